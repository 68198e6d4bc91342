import type { IncomingHttpHeaders } from 'node:http';
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
  isBase64,
  jsonSchema,
  matching,
  nullable,
  oneOf,
  rule,
  tagged,
  textOr,
  type Json,
  type Path,
  type Problem,
} from './shape.js';

export interface RuleContext {
  headers: IncomingHttpHeaders;
  issued: Issued;
  /** What is odd, but accepted. */
  note(message: string): void;
}

const cacheControl = nullable(fields({ type: oneOf('ephemeral'), 'ttl?': oneOf('5m', '1h') }));
const cached = { 'cache_control?': cacheControl };
const toolId = matching(/^[a-zA-Z0-9_-]{1,64}$/);
const toolName = matching(/^[a-zA-Z0-9_-]{1,128}$/);
const base64 = aString((text, path) => (isBase64(text) ? undefined : rule(path, 'invalid base64 data')));
const noCitations = nullable(aList((_, path) => rule(path, 'Citations are not permitted')));

const textBlock = fields({ type: anything, text: aString(), 'citations?': noCitations, ...cached });
const imageBlock = fields({
  type: anything,
  source: tagged('type', {
    base64: fields({ type: anything, media_type: oneOf('image/jpeg', 'image/png', 'image/gif', 'image/webp'), data: base64 }),
    url: fields({ type: anything, url: matching(/^https?:\/\//) }),
  }),
  ...cached,
});
const toolResult = fields({
  type: anything,
  tool_use_id: toolId,
  'content?': (value, path) => (Array.isArray(value) ? aList(resultPart)(value, path) : aString()(value, path)),
  'is_error?': aBoolean,
  ...cached,
});
const resultPart = tagged('type', { text: textBlock, image: imageBlock });
const toolUse = fields({
  type: anything,
  id: toolId,
  name: toolName,
  input: anObject,
  'caller?': fields({ type: oneOf('direct') }),
  ...cached,
});
const userBlock = tagged('type', { text: textBlock, image: imageBlock, tool_result: toolResult });
const assistantBlock = tagged('type', {
  text: textBlock,
  thinking: fields({ type: anything, thinking: aString(), signature: filled }),
  redacted_thinking: fields({ type: anything, data: filled }),
  tool_use: toolUse,
});
const thinkingDisplay = { 'display?': nullable(oneOf('summarized', 'omitted')) };
const parallel = { 'disable_parallel_tool_use?': aBoolean };

const request = {
  model: filled,
  max_tokens: anInteger(1),
  messages: aList(
    tagged('role', {
      user: fields({ role: anything, content: textOr(userBlock) }),
      assistant: fields({ role: anything, content: textOr(assistantBlock) }),
    }),
    1,
  ),
  stream: aBoolean,
  'system?': textOr(tagged('type', { text: textBlock })),
  'tools?': aList(
    fields({
      'type?': nullable(oneOf('custom')),
      name: toolName,
      'description?': aString(),
      input_schema: jsonSchema,
      'strict?': aBoolean,
      'eager_input_streaming?': nullable(aBoolean),
      ...cached,
    }),
  ),
  'tool_choice?': tagged('type', {
    auto: fields({ type: anything, ...parallel }),
    any: fields({ type: anything, ...parallel }),
    tool: fields({ type: anything, name: toolName, ...parallel }),
    none: fields({ type: anything }),
  }),
  'thinking?': tagged('type', {
    adaptive: fields({ type: anything, ...thinkingDisplay }),
    enabled: fields({ type: anything, budget_tokens: anInteger(1024), ...thinkingDisplay }),
    disabled: fields({ type: anything }),
    between_tools: fields({ type: anything }),
  }),
  'output_config?': fields({
    'effort?': nullable(oneOf('low', 'medium', 'high', 'xhigh', 'max')),
    'format?': nullable(fields({ type: oneOf('json_schema'), schema: anObject })),
  }),
  'metadata?': fields({ 'user_id?': nullable(aString()) }),
  'stop_sequences?': aList(filled),
  'service_tier?': oneOf('auto', 'standard_only'),
  'speed?': nullable(oneOf('standard', 'fast')),
  'inference_geo?': nullable(aString()),
  ...cached,
};
/** Versions of the API; the newer one no longer knows how to sample. */
const shapes = new Map([
  ['2023-06-01', fields({ ...request, 'temperature?': aNumber(0, 1), 'top_p?': aNumber(0, 1), 'top_k?': anInteger(0) })],
  ['2026-10-21', fields(request)],
]);

interface Placed {
  block: Json;
  path: Path;
}
interface Turn {
  role: string;
  path: Path;
  blocks: Placed[];
}

/** Messages of the same role in a row are one turn, as the provider has it. */
function turnsOf(messages: Json[], note: (message: string) => void): Turn[] {
  const turns: Turn[] = [];
  for (const [index, { role, content }] of messages.entries()) {
    const path = ['messages', index];
    const blocks =
      typeof content === 'string'
        ? [{ block: { type: 'text', text: content }, path }]
        : content.map((block: Json, i: number) => ({ block, path: [...path, 'content', i] }));
    const last = turns.at(-1);
    if (last && last.role === role) {
      note(`messages.${index}: follows another message of the role ${role}`);
      last.blocks.push(...blocks);
    } else turns.push({ role, path, blocks });
  }
  return turns;
}

function textProblem(where: string, text: string): Problem | undefined {
  if (text === '') return rule([], `${where}: text content blocks must be non-empty`);
  return /\S/.test(text) ? undefined : rule([], `${where}: text content blocks must contain non-whitespace text`);
}

function checkTexts(body: Json, turns: Turn[]): Problem | undefined {
  const system: Json[] = typeof body.system === 'string' ? [{ text: body.system }] : (body.system ?? []);
  return (
    firstOf(system, ({ text }) => textProblem('system', text)) ??
    firstOf(
      turns.flatMap(({ blocks }) => blocks),
      ({ block, path }) => {
        if (block.type === 'text') return textProblem('messages', block.text);
        if (block.type !== 'tool_result') return undefined;
        const parts: Json[] = Array.isArray(block.content) ? block.content : [];
        const isEmpty = (block.content ?? '') === '' || (Array.isArray(block.content) && parts.length === 0);
        if (block.is_error && isEmpty) return rule(path, 'content cannot be empty if `is_error` is true');
        if (block.is_error && parts.some(({ type }) => type !== 'text')) {
          return rule(path, 'all content must be type "text" if `is_error` is true');
        }
        return firstOf(parts, (part) => (part.type === 'text' ? textProblem('messages', part.text) : undefined));
      },
    )
  );
}

function checkPairs(turns: Turn[]): Problem | undefined {
  const seen = new Set<string>();
  return firstOf(turns, (turn, index) => {
    const wanted = (turns[index - 1]?.blocks ?? []).flatMap(({ block }) => (block.type === 'tool_use' ? [block.id as string] : []));
    const results = turn.blocks.filter(({ block }) => block.type === 'tool_result');
    const leading = turn.blocks.slice(0, results.length).filter(({ block }) => block.type === 'tool_result');
    const answered = new Set<string>();
    const wrong = firstOf(results, ({ block, path }) => {
      const id: string = block.tool_use_id;
      if (!wanted.includes(id)) {
        const why = 'Each `tool_result` block must have a corresponding `tool_use` block in the previous message.';
        return rule(path, `unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. ${why}`);
      }
      if (answered.has(id)) {
        return rule(path, `each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${id}`);
      }
      answered.add(id);
      return undefined;
    });
    if (wrong) return wrong;
    const missing = wanted.filter((id) => !leading.some(({ block }) => block.tool_use_id === id));
    if (missing.length > 0) {
      const why = 'Each `tool_use` block must have a corresponding `tool_result` block in the next message.';
      const message = `\`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing.join(', ')}. ${why}`;
      return rule(turns[index - 1]!.path, message);
    }
    return firstOf(turn.blocks, ({ block }) => {
      if (block.type !== 'tool_use') return undefined;
      if (seen.has(block.id)) return rule(['messages'], '`tool_use` ids must be unique');
      seen.add(block.id);
      return undefined;
    });
  });
}

function checkTools(body: Json, turns: Turn[]): Problem | undefined {
  const names: string[] = (body.tools ?? []).map(({ name }: Json) => name);
  if (new Set(names).size < names.length) return rule(['tools'], 'Tool names must be unique.');
  const used = turns.some(({ blocks }) => blocks.some(({ block }) => block.type === 'tool_use' || block.type === 'tool_result'));
  if (used && names.length === 0) {
    return rule([], 'Requests which have `tool_use` or `tool_result` blocks in `messages` must define tools.');
  }
  if (!body.tool_choice) return undefined;
  if (names.length === 0) return rule(['tool_choice'], '`tool_choice` may only be specified while providing `tools`.');
  if (body.tool_choice.type !== 'tool' || names.includes(body.tool_choice.name)) return undefined;
  return rule([], `Tool '${body.tool_choice.name}' not found in provided tools`);
}

function isThinking(placed: Placed | undefined): boolean {
  return placed?.block.type === 'thinking' || placed?.block.type === 'redacted_thinking';
}

function checkThinking(body: Json, turns: Turn[], issued: Issued): Problem | undefined {
  const model: string = body.model;
  const tampered = firstOf(turns, ({ role, path, blocks }) => {
    if (role === 'assistant' && isThinking(blocks.at(-1))) {
      return rule(path, 'The final block in an assistant message cannot be `thinking`.');
    }
    return firstOf(blocks, (placed) => {
      const { type, thinking, signature, data } = placed.block;
      if (type === 'thinking' && !issued.isSigned(model, thinking, signature)) {
        return rule(placed.path, 'Invalid `signature` in `thinking` block');
      }
      if (type === 'redacted_thinking' && !issued.isRedacted(model, data)) {
        return rule(placed.path, 'Invalid `data` in `redacted_thinking` block');
      }
      return undefined;
    });
  });
  if (tampered || !body.thinking || body.thinking.type === 'disabled') return tampered;
  if (body.temperature !== undefined) return rule([], '`temperature` may only be set to 1 when thinking is enabled.');
  if (['any', 'tool'].includes(body.tool_choice?.type)) {
    return rule([], 'Thinking may not be enabled when tool_choice forces tool use.');
  }
  if (body.thinking.type !== 'enabled') return undefined;
  if (body.thinking.budget_tokens >= body.max_tokens) return rule([], '`max_tokens` must be greater than `thinking.budget_tokens`.');
  const first = turns.at(-2)?.blocks[0];
  if (!first || turns.at(-1)!.blocks[0]!.block.type !== 'tool_result' || isThinking(first)) return undefined;
  const why =
    'When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks).';
  return rule([...first.path, 'type'], `Expected \`thinking\` or \`redacted_thinking\`, but found \`${first.block.type}\`. ${why}`);
}

/** The markers below a value; what a tool is called with is not looked at. */
function countMarkers(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const entries = Object.entries(value).filter(([name]) => name !== 'input' && name !== 'input_schema');
  return entries.reduce((sum, [name, item]) => sum + (name === 'cache_control' && item ? 1 : countMarkers(item)), 0);
}

/** What the Messages API would not take. */
export function checkAnthropic(body: Json, { headers, issued, note }: RuleContext): Problem | undefined {
  const version = headers['anthropic-version'];
  if (version === undefined) return rule(['anthropic-version'], 'header is required');
  const shape = shapes.get(String(version));
  if (!shape) return rule(['anthropic-version'], `"${String(version)}" is not a valid version`);
  const malformed = shape(body, []);
  if (malformed) return malformed;
  if (!body.stream) return rule(['stream'], 'only streams are served here');
  if (body.messages[0].role !== 'user') return rule(['messages'], 'first message must use the "user" role');
  const turns = turnsOf(body.messages, note);
  const markers = countMarkers(body);
  if (markers > 4) return rule([], `A maximum of 4 blocks with cache_control may be provided. Found ${markers}.`);
  const problem = checkTexts(body, turns) ?? checkTools(body, turns) ?? checkPairs(turns) ?? checkThinking(body, turns, issued);
  if (problem || turns.at(-1)!.role === 'user') return problem;
  return rule([], 'This model does not support assistant message prefill. The conversation must end with a user message.');
}
