import { common, efforts, functionName, verbosity } from './responses-rules.js';
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
  nullable,
  oneOf,
  rule,
  tagged,
  textOr,
  type Check,
  type Json,
  type Problem,
} from './shape.js';

/** The ids of calls are shorter here than anywhere else. */
const callIdMax = 40;
const callId = aString((id, path) => {
  if (id === '') return { kind: 'empty', path, what: 'string' };
  const message = `string too long. Expected a string with maximum length ${callIdMax}, but got a string with length ${id.length} instead`;
  return id.length > callIdMax ? rule(path, message, { code: 'string_above_max_length' }) : undefined;
});
const breakpoint = { 'prompt_cache_breakpoint?': nullable(fields({ mode: oneOf('explicit') })) };
const textPart = fields({ type: anything, text: aString(), ...breakpoint });
const imagePart = fields({
  type: anything,
  image_url: fields({ url: imageUrl, 'detail?': oneOf('auto', 'low', 'high') }),
  ...breakpoint,
});
const texts = textOr(tagged('type', { text: textPart }));
const named = { role: anything, 'name?': aString() };
const message = tagged('role', {
  system: fields({ ...named, content: texts }),
  developer: fields({ ...named, content: texts }),
  user: fields({ ...named, content: textOr(tagged('type', { text: textPart, image_url: imagePart }), filled) }),
  assistant: fields({
    ...named,
    'content?': nullable(textOr(tagged('type', { text: textPart, refusal: fields({ type: anything, refusal: aString() }) }))),
    'refusal?': nullable(aString()),
    // Servers whose models think want it back, with calls only.
    'reasoning_content?': aString(),
    'tool_calls?': aList(
      fields({
        id: callId,
        type: oneOf('function'),
        function: fields({ name: functionName, arguments: jsonText }),
      }),
      1,
    ),
  }),
  tool: fields({ role: anything, tool_call_id: callId, content: texts }),
});
const namedTool = fields({ type: anything, function: fields({ name: functionName }) });
const toolChoice: Check = (value, path) =>
  typeof value === 'string' ? oneOf('none', 'auto', 'required')(value, path) : tagged('type', { function: namedTool })(value, path);

const shape = fields({
  ...common,
  messages: aList(message, 1),
  'tools?': aList(
    tagged('type', {
      function: fields({
        type: anything,
        function: fields({ name: functionName, 'description?': aString(), 'parameters?': jsonSchema, 'strict?': nullable(aBoolean) }),
      }),
    }),
    1,
  ),
  'tool_choice?': toolChoice,
  'max_tokens?': nullable(anInteger(1)),
  'max_completion_tokens?': nullable(anInteger(1)),
  'reasoning_effort?': efforts,
  'verbosity?': verbosity,
  'stream_options?': nullable(fields({ 'include_usage?': aBoolean, 'include_obfuscation?': aBoolean })),
  'stop?': nullable((value, path) => (typeof value === 'string' ? undefined : aList(aString())(value, path))),
  'seed?': nullable(anInteger(0)),
  'n?': nullable(anInteger(1)),
  'frequency_penalty?': nullable(aNumber(-2, 2)),
  'presence_penalty?': nullable(aNumber(-2, 2)),
  'response_format?': tagged('type', {
    text: fields({ type: anything }),
    json_object: fields({ type: anything }),
    json_schema: fields({ type: anything, json_schema: anObject }),
  }),
});

function checkMessages(messages: Json[]): Problem | undefined {
  let open: string[] = [];
  const unanswered = (index: number): Problem => {
    const message = `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${open.join(', ')}.`;
    return rule(['messages', index, 'role'], message);
  };
  const problem = firstOf(messages, ({ role, content, tool_calls: calls, tool_call_id: id, reasoning_content: thought }, index) => {
    if (thought !== undefined && !calls) return { kind: 'extra', path: ['messages', index, 'reasoning_content'] };
    if (role === 'tool') {
      const message = `Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.`;
      if (!open.includes(id)) return rule(['messages', index, 'role'], message);
      open = open.filter((other) => other !== id);
      return undefined;
    }
    if (open.length > 0) return unanswered(index);
    if (role !== 'assistant') return undefined;
    if (!calls && (content ?? '') === '') {
      return rule(['messages', index, 'content'], `Invalid value for 'content': expected a string, got null.`);
    }
    open = (calls ?? []).map((call: Json) => call.id as string);
    return new Set(open).size < open.length ? rule(['messages', index, 'tool_calls'], 'Duplicate tool call ids.') : undefined;
  });
  return problem ?? (open.length > 0 ? unanswered(messages.length) : undefined);
}

/** What the Chat Completions API would not take. */
export function checkChat(body: Json): Problem | undefined {
  const malformed = shape(body, []);
  if (malformed) return malformed;
  if (!body.stream && body.stream_options) {
    return rule(['stream_options'], `The 'stream_options' parameter is only allowed when 'stream' is enabled.`);
  }
  if (!body.stream) return rule(['stream'], 'only streams are served here');
  if (body.max_tokens && body.max_completion_tokens) {
    return rule(['max_tokens'], `Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.`);
  }
  for (const name of ['tool_choice', 'parallel_tool_calls']) {
    if (body[name] !== undefined && !body.tools) {
      return rule([name], `Invalid value for '${name}': '${name}' is only allowed when 'tools' are specified.`);
    }
  }
  if (body.reasoning_effort && String(body.model).includes('plain')) {
    return rule([], 'Unrecognized request argument supplied: reasoning_effort.');
  }
  return checkMessages(body.messages);
}
