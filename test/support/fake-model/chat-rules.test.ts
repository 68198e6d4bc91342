import { expect, test } from 'vitest';
import { rawAsk } from './raw-ask.js';
import { createFakeModel } from './server.js';

const png = 'data:image/png;base64,iVBORw0KGgo=';
const hello = { role: 'user', content: 'hello' };
const call = (id: string, more: object = {}) => ({ id, type: 'function', function: { name: 'read', arguments: '{}', ...more } });
const calls = (...tool_calls: object[]) => ({ role: 'assistant', tool_calls });
const result = (id: string, content: unknown = 'text') => ({ role: 'tool', tool_call_id: id, content });
const text = (words: string) => ({ type: 'text', text: words });
const image = { type: 'image_url', image_url: { url: png } };
const definition = { name: 'read', description: 'reads', parameters: { type: 'object' } };
const tool = { type: 'function', function: definition };
const base = { model: 'gpt', stream: true, messages: [hello], tools: [tool] };

test('what the real one takes is accepted', async () => {
  await using model = await createFakeModel();
  const bodies: object[] = [
    { ...base, max_tokens: 10, temperature: 0.3, stop: ['a'], seed: 1, stream_options: { include_usage: true } },
    {
      ...base,
      max_completion_tokens: 10,
      reasoning_effort: 'low',
      verbosity: 'low',
      store: false,
      tool_choice: 'auto',
      parallel_tool_calls: false,
    },
    {
      ...base,
      messages: [
        { role: 'system', content: 'be brief' },
        { role: 'developer', content: [text('b')] },
        { role: 'user', content: [text('a'), image] },
      ],
    },
    {
      ...base,
      messages: [
        hello,
        { ...calls(call('a'), call('b')), content: null },
        result('b', [text('b')]),
        result('a', ''),
        { role: 'assistant', content: 'done' },
        hello,
        { role: 'assistant', content: [text('a')] },
      ],
    },
  ];
  for (const body of bodies) expect(await rawAsk(model, 'openai-chat', body)).toMatchObject({ status: 200 });
  expect(model.refusals).toEqual([]);
});

const refused: [what: string, change: object, why: string][] = [
  ['a field that is not known', { foo: 1 }, `Unknown parameter: 'foo'.`],
  ['a field of a message', { messages: [{ ...hello, id: 1 }] }, `Unknown parameter: 'messages[0].id'.`],
  [
    'a thought that is sent back',
    { messages: [hello, { role: 'assistant', content: 'a', reasoning_content: 'b' }] },
    'messages[1].reasoning_content',
  ],
  [
    'a field of a call',
    { messages: [hello, calls({ ...call('a'), index: 0 }), result('a')] },
    `Unknown parameter: 'messages[1].tool_calls[0].index'.`,
  ],
  [
    'a tool in the form of the other API',
    { tools: [{ type: 'function', ...definition }] },
    `Missing required parameter: 'tools[0].function'.`,
  ],
  ['no model', { model: '' }, `Invalid 'model': empty string.`],
  ['no messages', { messages: [] }, `Invalid 'messages': empty array.`],
  ['no tools in a list', { tools: [] }, `Invalid 'tools': empty array.`],
  ['another role', { messages: [{ role: 'model', content: 'a' }] }, `Invalid value: 'model'.`],
  ['no words of a person', { messages: [{ role: 'user', content: '' }] }, `Invalid 'messages[0].content': empty string.`],
  ['no parts of a person', { messages: [{ role: 'user', content: [] }] }, `Invalid 'messages[0].content': empty array.`],
  [
    'an image that is none',
    { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'file:///a' } }] }] },
    'image_url.url',
  ],
  ['a model that says nothing', { messages: [hello, { role: 'assistant', content: null }] }, `Invalid value for 'content'`],
  ['a model that says as good as nothing', { messages: [hello, { role: 'assistant', content: '' }] }, `Invalid value for 'content'`],
  [
    'no calls in a list',
    { messages: [hello, { role: 'assistant', content: 'a', tool_calls: [] }] },
    `Invalid 'messages[1].tool_calls': empty array.`,
  ],
  ['a call without a result', { messages: [hello, calls(call('a'))] }, 'did not have response messages: a.'],
  [
    'a call with half of its results',
    { messages: [hello, calls(call('a'), call('b')), result('b'), hello] },
    'did not have response messages: a.',
  ],
  ['a result that is late', { messages: [hello, calls(call('a')), hello, result('a')] }, 'did not have response messages: a.'],
  ['a result without a call', { messages: [hello, result('a')] }, `messages with role 'tool' must be a response to a preceeding message`],
  [
    'a result that comes again',
    { messages: [hello, calls(call('a')), result('a'), result('a')] },
    `messages with role 'tool' must be a response`,
  ],
  ['two calls of one id', { messages: [hello, calls(call('a'), call('a')), result('a')] }, 'Duplicate tool call ids.'],
  ['an image as a result', { messages: [hello, calls(call('a')), result('a', [image])] }, `Invalid value: 'image_url'.`],
  ['arguments that are no JSON', { messages: [hello, calls(call('a', { arguments: '{' })), result('a')] }, 'function.arguments'],
  [
    'arguments that are no string',
    { messages: [hello, calls(call('a', { arguments: {} })), result('a')] },
    'expected a string, but got an object',
  ],
  ['an odd name of a call', { messages: [hello, calls(call('a', { name: 'a b' })), result('a')] }, 'string does not match pattern'],
  ['a long id of a call', { messages: [hello, calls(call('x'.repeat(41))), result('a')] }, 'maximum length 40'],
  ['two limits', { max_tokens: 1, max_completion_tokens: 1 }, 'at the same time is not supported'],
  ['no tokens', { max_tokens: 0 }, 'Expected a value >= 1'],
  ['no stream', { stream: false }, 'stream'],
  ['options of no stream', { stream: false, stream_options: {} }, `only allowed when 'stream' is enabled.`],
  ['a choice among no tools', { tools: undefined, tool_choice: 'auto' }, `only allowed when 'tools' are specified.`],
  ['parallel calls of no tools', { tools: undefined, parallel_tool_calls: true }, `only allowed when 'tools' are specified.`],
  ['the effort of a plain model', { model: 'plain', reasoning_effort: 'low' }, 'reasoning_effort'],
];

test.each(refused)('%s is refused', async (_, change, why) => {
  await using model = await createFakeModel();
  const { status, message } = await rawAsk(model, 'openai-chat', { ...base, ...change });
  expect({ status, message }).toEqual({ status: 400, message: expect.stringContaining(why) });
  expect(model.refusals).toEqual([`openai-chat: ${message}`]);
});
