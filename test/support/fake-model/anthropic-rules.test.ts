import { expect, test } from 'vitest';
import { rawAsk } from './raw-ask.js';
import { createFakeModel } from './server.js';

const png = 'iVBORw0KGgo=';
const cache_control = { type: 'ephemeral' };
const use = (id: string, more: object = {}) => ({ type: 'tool_use', id, name: 'read', input: {}, ...more });
const result = (id: string, more: object = {}) => ({ type: 'tool_result', tool_use_id: id, content: 'text', ...more });
const text = (words: string, more: object = {}) => ({ type: 'text', text: words, ...more });
const image = (source: object) => ({ type: 'image', source });
const user = (...content: unknown[]) => ({ role: 'user', content });
const assistant = (...content: unknown[]) => ({ role: 'assistant', content });
const tool = { name: 'read', description: 'reads', input_schema: { type: 'object', properties: {} } };
const hello = { role: 'user', content: 'hello' };
const thinking = { type: 'enabled', budget_tokens: 1024 };
const base = { model: 'claude', max_tokens: 2048, stream: true, messages: [hello], tools: [tool] };
const older = { 'anthropic-version': '2023-06-01' };

test('what the real one takes is accepted', async () => {
  await using model = await createFakeModel();
  const bodies: object[] = [
    { ...base, system: 'be brief', metadata: { user_id: 'me' }, thinking: { type: 'adaptive' }, output_config: { effort: 'high' } },
    { ...base, system: [text('be brief', { cache_control: { type: 'ephemeral', ttl: '1h' } })], tool_choice: { type: 'auto' } },
    { ...base, thinking: { type: 'disabled' }, stop_sequences: ['stop'], service_tier: 'auto' },
    { ...base, thinking: { type: 'between_tools' }, tools: [{ ...tool, type: 'custom', strict: true, cache_control }] },
    {
      ...base,
      messages: [
        user(text('see'), image({ type: 'base64', media_type: 'image/png', data: png }), image({ type: 'url', url: 'https://a/b' })),
      ],
    },
    {
      ...base,
      messages: [
        hello,
        assistant(text('I look', { citations: null }), use('a', { caller: { type: 'direct' } }), use('b')),
        user(
          result('b', { content: [text('b'), image({ type: 'base64', media_type: 'image/jpeg', data: png })] }),
          result('a', { content: '' }),
          text('and'),
        ),
        assistant(text('done')),
        user(text('go on', { cache_control })),
      ],
    },
    { ...base, messages: [hello, assistant(use('a', { input: { cache_control: { deep: [1] } } })), user(result('a', { is_error: true }))] },
  ];
  for (const body of bodies) expect(await rawAsk(model, 'anthropic', body)).toMatchObject({ status: 200 });
  expect(await rawAsk(model, 'anthropic', { ...base, temperature: 0.5, top_k: 3, top_p: 1 }, older)).toMatchObject({ status: 200 });
  expect(model.refusals).toEqual([]);
  expect(model.notes).toEqual([]);
});

test('messages of one role in a row are taken for one, and noted', async () => {
  await using model = await createFakeModel();
  const messages = [hello, assistant(use('a')), assistant(use('b')), user(result('a')), user(result('b')), hello];
  expect(await rawAsk(model, 'anthropic', { ...base, messages })).toMatchObject({ status: 200 });
  expect(model.notes).toEqual(
    [2, 4, 5].map((at) => `messages.${at}: follows another message of the role ${at === 2 ? 'assistant' : 'user'}`),
  );
});

const refused: [what: string, change: object, why: string][] = [
  ['a field that is not known', { foo: 1 }, 'foo: Extra inputs are not permitted'],
  ['a field of a message', { messages: [{ ...hello, id: '1' }] }, 'messages.0.id: Extra inputs are not permitted'],
  ['a field of a block', { messages: [user(text('a', { x: 1 }))] }, 'messages.0.content.0.x: Extra inputs are not permitted'],
  ['a field of a tool', { tools: [{ ...tool, parameters: {} }] }, 'tools.0.parameters: Extra inputs'],
  ['no model', { model: '' }, 'model: String should have at least 1 character'],
  ['no tokens', { max_tokens: 0 }, 'max_tokens: Input should be greater than or equal to 1'],
  ['half a token', { max_tokens: 1.5 }, 'max_tokens: Input should be a valid integer'],
  ['no stream', { stream: false }, 'stream'],
  ['no messages', { messages: [] }, 'messages: List should have at least 1 item'],
  ['a model that speaks first', { messages: [assistant(text('a')), hello] }, 'first message must use the "user" role'],
  ['another role', { messages: [{ role: 'system', content: 'a' }, hello] }, `messages.0.role: Input should be 'user' or 'assistant'`],
  ['a prefilled answer', { messages: [hello, assistant(text('a'))] }, 'does not support assistant message prefill'],
  ['no words', { messages: [{ role: 'user', content: '' }] }, 'text content blocks must be non-empty'],
  ['no blocks', { messages: [user()] }, 'messages.0.content: List should have at least 1 item'],
  ['an empty block', { messages: [user(text(''))] }, 'text content blocks must be non-empty'],
  ['a blank block', { messages: [user(text(' \n'))] }, 'text content blocks must contain non-whitespace text'],
  ['an empty block that is cached', { messages: [user(text('', { cache_control }))] }, 'must be non-empty'],
  ['a block of another kind', { messages: [user({ type: 'video' })] }, 'messages.0.content.0.type: Input should be'],
  ['citations', { messages: [user(text('a', { citations: [{}] }))] }, 'citations'],
  [
    'an odd id of a call',
    { messages: [hello, assistant(use('a b')), user(result('a b'))] },
    'messages.1.content.0.id: String should match pattern',
  ],
  ['a long id of a call', { messages: [hello, assistant(use('x'.repeat(65))), user(result('a'))] }, 'String should match pattern'],
  [
    'an id that comes again',
    { messages: [hello, assistant(use('a')), user(result('a')), assistant(use('a')), user(result('a'))] },
    'ids must be unique',
  ],
  ['an odd name of a call', { messages: [hello, assistant(use('a', { name: 'a.b' })), user(result('a'))] }, 'messages.1.content.0.name'],
  [
    'arguments that are no object',
    { messages: [hello, assistant(use('a', { input: '{}' })), user(result('a'))] },
    'input: Input should be a valid object',
  ],
  [
    'a call without a result',
    { messages: [hello, assistant(use('a')), hello] },
    'messages.1: `tool_use` ids were found without `tool_result` blocks',
  ],
  ['a call with half of its results', { messages: [hello, assistant(use('a'), use('b')), user(result('a'))] }, 'immediately after: b.'],
  ['a result after words', { messages: [hello, assistant(use('a')), user(text('so'), result('a'))] }, 'immediately after: a.'],
  [
    'a result that comes again',
    { messages: [hello, assistant(use('a')), user(result('a'), result('a'))] },
    'each tool_use must have a single result',
  ],
  ['a result without a call', { messages: [user(result('a'))] }, 'unexpected `tool_use_id` found in `tool_result` blocks: a.'],
  [
    'a result of an older call',
    { messages: [hello, assistant(use('a')), user(result('a')), assistant(text('b')), user(result('a'))] },
    'unexpected `tool_use_id`',
  ],
  [
    'an error without words',
    { messages: [hello, assistant(use('a')), user(result('a', { is_error: true, content: '' }))] },
    'content cannot be empty',
  ],
  ['calls without tools', { tools: [], messages: [hello, assistant(use('a')), user(result('a'))] }, 'must define tools'],
  ['two tools of one name', { tools: [tool, tool] }, 'Tool names must be unique'],
  ['an odd name of a tool', { tools: [{ ...tool, name: 'a.b' }] }, 'tools.0.name: String should match pattern'],
  ['a tool that takes no object', { tools: [{ ...tool, input_schema: { type: 'array' } }] }, 'tools.0.input_schema.type'],
  ['a choice among no tools', { tools: [], tool_choice: { type: 'auto' } }, 'tool_choice'],
  ['a choice that is not there', { tool_choice: { type: 'tool', name: 'other' } }, `Tool 'other' not found`],
  [
    'an image of another kind',
    { messages: [user(image({ type: 'base64', media_type: 'image/bmp', data: png }))] },
    'media_type: Input should be',
  ],
  [
    'an image that is not base64',
    { messages: [user(image({ type: 'base64', media_type: 'image/png', data: 'a-b_' }))] },
    'invalid base64 data',
  ],
  [
    'thoughts of others',
    { messages: [hello, assistant({ type: 'thinking', thinking: 'a', signature: 'b' }, text('c')), hello] },
    'Invalid `signature`',
  ],
  [
    'thoughts without a signature',
    { messages: [hello, assistant({ type: 'thinking', thinking: 'a' }, text('c')), hello] },
    'signature: Field required',
  ],
  [
    'hidden thoughts of others',
    { messages: [hello, assistant({ type: 'redacted_thinking', data: 'a' }, text('c')), hello] },
    'Invalid `data`',
  ],
  [
    'thoughts that are cached',
    { messages: [hello, assistant({ type: 'thinking', thinking: 'a', signature: 'b', cache_control }, text('c')), hello] },
    'messages.1.content.0.cache_control: Extra inputs are not permitted',
  ],
  [
    'a small budget',
    { thinking: { type: 'enabled', budget_tokens: 1023 } },
    'thinking.budget_tokens: Input should be greater than or equal to 1024',
  ],
  [
    'a budget that leaves no room',
    { thinking: { type: 'enabled', budget_tokens: 2048 } },
    '`max_tokens` must be greater than `thinking.budget_tokens`',
  ],
  ['a budget where none is', { thinking: { type: 'adaptive', budget_tokens: 1024 } }, 'thinking.budget_tokens: Extra inputs'],
  [
    'thinking and a forced tool',
    { thinking, tool_choice: { type: 'any' } },
    'Thinking may not be enabled when tool_choice forces tool use.',
  ],
  [
    'thinking without a thought',
    { thinking, messages: [hello, assistant(use('a')), user(result('a'))] },
    'Expected `thinking` or `redacted_thinking`',
  ],
  ['a temperature', { temperature: 1 }, 'temperature: Extra inputs are not permitted'],
  [
    'five markers',
    { system: [text('a', { cache_control })], messages: [user(...['a', 'b', 'c', 'd'].map((a) => text(a, { cache_control })))] },
    'Found 5.',
  ],
  [
    'a marker of another kind',
    { messages: [user(text('a', { cache_control: { type: 'lasting' } }))] },
    `type: Input should be 'ephemeral'`,
  ],
  ['an empty system prompt', { system: '' }, 'system: text content blocks must be non-empty'],
  ['a system prompt of no blocks', { system: [] }, 'system: List should have at least 1 item'],
  ['an effort that is not known', { output_config: { effort: 'most' } }, 'output_config.effort: Input should be'],
];

test.each(refused)('%s is refused', async (_, change, why) => {
  await using model = await createFakeModel();
  const { status, message } = await rawAsk(model, 'anthropic', { ...base, ...change });
  expect({ status, message }).toEqual({ status: 400, message: expect.stringContaining(why) });
  expect(model.refusals).toEqual([`anthropic: ${message}`]);
});

test('a version is needed, and one that is known', async () => {
  await using model = await createFakeModel();
  const headers = { authorization: 'Bearer key', 'content-type': 'application/json' };
  const response = await fetch(`${model.url}/v1/messages`, { method: 'POST', headers, body: JSON.stringify(base) });
  expect(await response.json()).toMatchObject({ type: 'error', error: { message: 'anthropic-version: header is required' } });
  expect(await rawAsk(model, 'anthropic', base, { 'anthropic-version': '2020-01-01' })).toMatchObject({ status: 400 });
  expect(await rawAsk(model, 'anthropic', { ...base, temperature: 1, thinking }, older)).toMatchObject({
    message: '`temperature` may only be set to 1 when thinking is enabled.',
  });
});

test('thoughts are good for their model only, and are nothing to end with', async () => {
  await using model = await createFakeModel();
  model.script([{ thinking: 'a', signature: 'sig' }, { redacted: 'ZGF0YQ==' }, { text: 'b' }]);
  await rawAsk(model, 'anthropic', base);
  const thought = { type: 'thinking', thinking: 'a', signature: 'sig' };
  const hidden = { type: 'redacted_thinking', data: 'ZGF0YQ==' };
  const ask = (change: object, ...content: object[]) =>
    rawAsk(model, 'anthropic', { ...base, messages: [hello, assistant(...content), hello], ...change });
  expect(await ask({}, thought, hidden, text('b'))).toMatchObject({ status: 200 });
  expect(await ask({ model: 'other' }, thought, text('b'))).toMatchObject({ message: expect.stringContaining('Invalid `signature`') });
  expect(await ask({ model: 'other' }, hidden, text('b'))).toMatchObject({ message: expect.stringContaining('Invalid `data`') });
  expect(await ask({}, text('b'), thought)).toMatchObject({ message: expect.stringContaining('The final block in an assistant message') });
});
