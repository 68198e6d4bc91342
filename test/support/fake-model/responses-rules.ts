import type { RuleContext } from './anthropic-rules.js';
import type { Issued } from './issued.js';
import {
  aBoolean,
  aList,
  anInteger,
  anObject,
  anything,
  aNumber,
  aString,
  fields,
  filled,
  firstOf,
  imageUrl,
  jsonSchema,
  jsonText,
  matching,
  nullable,
  oneOf,
  rule,
  tagged,
  textOr,
  type Check,
  type Json,
  type Path,
  type Problem,
} from './shape.js';

/** Shared with Chat Completions, which spells them the same. */
export const functionName = matching(/^[a-zA-Z0-9_-]{1,64}$/);
export const efforts = nullable(oneOf('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'));
export const common = {
  model: filled,
  stream: aBoolean,
  'store?': nullable(aBoolean),
  'temperature?': nullable(aNumber(0, 2)),
  'top_p?': nullable(aNumber(0, 1)),
  'parallel_tool_calls?': nullable(aBoolean),
  'metadata?': nullable(anObject),
  'prompt_cache_key?': nullable(aString()),
  'prompt_cache_options?': fields({ 'mode?': oneOf('implicit', 'explicit'), 'ttl?': oneOf('30m') }),
  'prompt_cache_retention?': nullable(oneOf('in_memory', '24h')),
  'safety_identifier?': nullable(aString()),
  'service_tier?': nullable(oneOf('auto', 'default', 'flex', 'scale', 'priority')),
  'user?': aString(),
};
export const verbosity = nullable(oneOf('low', 'medium', 'high'));

function idOf(prefix: string): Check {
  return aString((id, path) => {
    if (id.startsWith(prefix)) return undefined;
    return rule(path, `Invalid '${path.join('.')}': '${id}'. Expected an ID that begins with '${prefix}'.`, { code: 'invalid_value' });
  });
}

const status = nullable(oneOf('in_progress', 'completed', 'incomplete'));
const callId = aString((id, path) => {
  if (id === '') return { kind: 'empty', path, what: 'string' };
  const message = `string too long. Expected a string with maximum length 64, but got a string with length ${id.length} instead`;
  return id.length > 64 ? rule(path, message, { code: 'string_above_max_length' }) : undefined;
});
const inputText = fields({ type: anything, text: aString(), 'prompt_cache_breakpoint?': nullable(fields({ mode: oneOf('explicit') })) });
const inputImage = fields({
  type: anything,
  'detail?': nullable(oneOf('low', 'high', 'auto', 'original')),
  image_url: imageUrl,
  'prompt_cache_breakpoint?': nullable(fields({ mode: oneOf('explicit') })),
});
const instructions = fields({
  'type?': anything,
  role: anything,
  content: textOr(tagged('type', { input_text: inputText })),
  'status?': status,
});
const message = tagged('role', {
  user: fields({
    'type?': anything,
    role: anything,
    content: textOr(tagged('type', { input_text: inputText, input_image: inputImage })),
    'status?': status,
  }),
  assistant: fields({
    'type?': anything,
    role: anything,
    content: textOr(
      tagged('type', {
        output_text: fields({ type: anything, text: aString(), 'annotations?': aList(anything), 'logprobs?': aList(anything) }),
        refusal: fields({ type: anything, refusal: aString() }),
      }),
    ),
    'id?': idOf('msg'),
    'status?': status,
    'phase?': nullable(oneOf('commentary', 'final_answer')),
  }),
  system: instructions,
  developer: instructions,
});
const typedItem = tagged('type', {
  message,
  function_call: fields({
    type: anything,
    call_id: callId,
    name: functionName,
    arguments: jsonText,
    'id?': idOf('fc'),
    'status?': status,
  }),
  function_call_output: fields({
    type: anything,
    call_id: callId,
    output: textOr(tagged('type', { input_text: inputText, input_image: inputImage })),
    'id?': nullable(idOf('fc')),
    'status?': status,
  }),
  reasoning: fields({
    type: anything,
    id: idOf('rs'),
    summary: aList(fields({ type: oneOf('summary_text'), text: aString() })),
    'content?': aList(fields({ type: oneOf('reasoning_text'), text: aString() })),
    'encrypted_content?': nullable(filled),
    'status?': status,
  }),
});
const item: Check = (value, path) => (value?.role !== undefined && value.type === undefined ? message : typedItem)(value, path);

const shape = fields({
  ...common,
  input: (value, path) => (typeof value === 'string' ? filled : aList(item, 1))(value, path),
  'instructions?': nullable(aString()),
  'include?': nullable(aList(oneOf('reasoning.encrypted_content', 'message.input_image.image_url', 'message.output_text.logprobs'))),
  'max_output_tokens?': nullable(anInteger(16)),
  'reasoning?': nullable(
    fields({
      'effort?': efforts,
      'summary?': nullable(oneOf('auto', 'concise', 'detailed')),
      'context?': nullable(oneOf('auto', 'current_turn', 'all_turns')),
      'mode?': oneOf('standard', 'pro'),
    }),
  ),
  'text?': fields({
    'format?': tagged('type', {
      text: fields({ type: anything }),
      json_object: fields({ type: anything }),
      json_schema: fields({
        type: anything,
        name: functionName,
        schema: anObject,
        'strict?': nullable(aBoolean),
        'description?': aString(),
      }),
    }),
    'verbosity?': verbosity,
  }),
  'tools?': aList(
    tagged('type', {
      function: fields({
        type: anything,
        name: functionName,
        parameters: nullable(jsonSchema),
        'strict?': nullable(aBoolean),
        'description?': nullable(aString()),
      }),
    }),
  ),
  'tool_choice?': (value, path) =>
    typeof value === 'string'
      ? oneOf('none', 'auto', 'required')(value, path)
      : tagged('type', { function: fields({ type: anything, name: functionName }) })(value, path),
  'previous_response_id?': nullable(aString()),
  'stream_options?': nullable(fields({ 'include_obfuscation?': aBoolean })),
  'truncation?': nullable(oneOf('auto', 'disabled')),
  'top_logprobs?': nullable(anInteger(0)),
});

/** Calls and their outputs: each batch of calls is answered before anything else is said. */
function checkCalls(items: Json[]): Problem | undefined {
  const open = new Set<string>();
  const seen = new Set<string>();
  let answering = false;
  const unanswered = (): Problem | undefined => {
    const [id] = open;
    return id === undefined ? undefined : rule(['input'], `No tool output found for function call ${id}.`);
  };
  const problem = firstOf(items, ({ type, role, call_id: id }, index) => {
    if (type === 'function_call_output') {
      answering = true;
      if (open.delete(id)) return undefined;
      if (!seen.has(id)) return rule(['input'], `No tool call found for function call output with call_id ${id}.`);
      return rule(['input', index, 'call_id'], `Duplicate function call output for call_id ${id}.`);
    }
    const byModel = role === undefined || role === 'assistant';
    if ((answering || !byModel) && open.size > 0) return unanswered();
    answering = false;
    if (type !== 'function_call') return undefined;
    if (seen.has(id)) return rule(['input', index, 'call_id'], `Duplicate function call with call_id ${id}.`);
    open.add(id);
    seen.add(id);
    return undefined;
  });
  return problem ?? unanswered();
}

function checkReasoning(body: Json, items: Json[], issued: Issued): Problem | undefined {
  return firstOf(items, ({ type, id, encrypted_content: content }, index) => {
    if (type !== 'reasoning') return undefined;
    const path: Path = ['input', index];
    const known = issued.reasoning(body.model, id, content ?? undefined);
    if (content && !known?.intact) {
      const shown = `${String(content).slice(0, 4)}...${String(content).slice(-4)}`;
      return rule([], `The encrypted content ${shown} could not be verified.`, { code: 'invalid_encrypted_content' });
    }
    if (!known?.stored && (!content || body.store !== false)) {
      const why =
        'Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.';
      return rule(['input'], `Item with id '${id}' not found. ${why}`, { status: 404 });
    }
    if (!known?.intact) return rule(path, `Item with id '${id}' is of another model.`);
    const next = items.slice(index + 1).find((other) => other.type !== 'reasoning');
    if (next?.type === 'function_call' || next?.role === 'assistant') return undefined;
    return rule(['input'], `Item '${id}' of type 'reasoning' was provided without its required following item.`);
  });
}

/** What models that cannot reason would not take. */
function checkPlain(body: Json): Problem | undefined {
  if (!String(body.model).includes('plain')) return undefined;
  const code = 'unsupported_parameter';
  if (body.reasoning) {
    const path = Object.keys(body.reasoning).length > 0 ? ['reasoning', Object.keys(body.reasoning)[0]!] : ['reasoning'];
    return rule(path, `Unsupported parameter: '${path.join('.')}' is not supported with this model.`, { code });
  }
  if (!body.include?.includes('reasoning.encrypted_content')) return undefined;
  return rule(['include'], 'Encrypted content is not supported with this model.');
}

/** What the Responses API would not take. */
export function checkResponses(body: Json, { issued }: RuleContext): Problem | undefined {
  const malformed = shape(body, []);
  if (malformed) return malformed;
  if (!body.stream) return rule(['stream'], 'only streams are served here');
  if (body.previous_response_id) {
    const message = `Previous response with id '${body.previous_response_id}' not found.`;
    return rule(['previous_response_id'], message, { code: 'previous_response_not_found' });
  }
  const items: Json[] = typeof body.input === 'string' ? [] : body.input;
  const ids = new Set<string>();
  const twice = firstOf(items, ({ id }) => {
    if (id && ids.has(id))
      return rule(['input'], `Duplicate item found with id ${id}. Remove duplicate items from your input and try again.`);
    ids.add(id);
    return undefined;
  });
  return twice ?? checkPlain(body) ?? checkCalls(items) ?? checkReasoning(body, items, issued);
}
