import { expect, test } from 'vitest';
import { rawAsk } from './raw-ask.js';
import { createFakeModel } from './server.js';

const png = 'data:image/png;base64,iVBORw0KGgo=';
const hello = { role: 'user', content: 'hello' };
const said = (words: string) => ({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: words }] });
const call = (id: string, more: object = {}) => ({ type: 'function_call', call_id: id, name: 'read', arguments: '{}', ...more });
const output = (id: string, more: object = {}) => ({ type: 'function_call_output', call_id: id, output: 'text', ...more });
const part = (type: string, more: object = {}) => ({ role: 'user', content: [{ type, ...more }] });
const tool = { type: 'function', name: 'read', parameters: { type: 'object' } };
const base = { model: 'gpt', stream: true, input: [hello], tools: [tool] };

test('what the real one takes is accepted', async () => {
  await using model = await createFakeModel();
  const bodies: object[] = [
    { ...base, input: 'hello', instructions: 'be brief', store: false, max_output_tokens: 16, prompt_cache_key: 'session' },
    { ...base, reasoning: { effort: 'high', summary: 'auto' }, include: ['reasoning.encrypted_content'], text: { verbosity: 'low' } },
    { ...base, tools: [{ ...tool, description: 'reads', strict: true }], tool_choice: 'auto', parallel_tool_calls: true, temperature: 0 },
    { ...base, tool_choice: { type: 'function', name: 'read' }, metadata: { a: 'b' }, service_tier: 'flex', top_p: 1 },
    { ...base, input: [{ role: 'developer', content: 'be brief' }, part('input_image', { image_url: png, detail: 'auto' })] },
    {
      ...base,
      input: [
        { type: 'message', ...hello },
        said('I look'),
        call('a', { id: 'fc_1', status: 'completed' }),
        call('b'),
        output('b', {
          output: [
            { type: 'input_text', text: 'b' },
            { type: 'input_image', image_url: png },
          ],
        }),
        output('a'),
        call('c'),
        output('c'),
        { ...said('done'), id: 'msg_1', status: 'completed' },
        hello,
      ],
    },
  ];
  for (const body of bodies) expect(await rawAsk(model, 'openai-responses', body)).toMatchObject({ status: 200 });
  expect(model.refusals).toEqual([]);
});

const refused: [what: string, change: object, why: string][] = [
  ['a field that is not known', { foo: 1 }, `Unknown parameter: 'foo'.`],
  ['a field of an item', { input: [{ ...hello, name: 'me' }] }, `Unknown parameter: 'input[0].name'.`],
  ['a field of a part', { input: [part('input_text', { text: 'a', x: 1 })] }, `Unknown parameter: 'input[0].content[0].x'.`],
  ['a field of a tool', { tools: [{ ...tool, function: {} }] }, `Unknown parameter: 'tools[0].function'.`],
  [
    'a tool in the form of the other API',
    { tools: [{ type: 'function', function: tool }] },
    `Missing required parameter: 'tools[0].name'.`,
  ],
  ['a tool of another kind', { tools: [{ type: 'web_search' }] }, `Invalid value: 'web_search'.`],
  ['a tool that takes no object', { tools: [{ ...tool, parameters: {} }] }, 'schema must be'],
  ['no model', { model: '' }, `Invalid 'model': empty string.`],
  ['no stream', { stream: false }, 'stream'],
  ['no input', { input: [] }, `Invalid 'input': empty array.`],
  ['no words', { input: '' }, `Invalid 'input': empty string.`],
  ['input of another type', { input: 1 }, `Invalid type for 'input': expected an array, but got a number instead.`],
  ['an item of another kind', { input: [{ type: 'web_search_call' }] }, `Invalid value: 'web_search_call'.`],
  ['another role', { input: [{ role: 'tool', content: 'a' }] }, `Invalid value: 'tool'.`],
  ['a part that is for the model to say', { input: [part('output_text', { text: 'a' })] }, `Invalid value: 'output_text'.`],
  [
    'a part that is for the person to say',
    { input: [hello, { role: 'assistant', content: [{ type: 'input_text', text: 'a' }] }] },
    `Invalid value: 'input_text'.`,
  ],
  ['an image that is none', { input: [part('input_image', { image_url: 'data:image/png;base64,?' })] }, 'image_url'],
  ['few tokens', { max_output_tokens: 15 }, 'Expected a value >= 16, but got 15 instead.'],
  ['an odd verbosity', { text: { verbosity: 'chatty' } }, `Invalid value: 'chatty'.`],
  ['an odd effort', { reasoning: { effort: 'most' } }, `Invalid value: 'most'.`],
  [
    'reasoning of a plain model',
    { model: 'plain', reasoning: { effort: 'low' } },
    `Unsupported parameter: 'reasoning.effort' is not supported with this model.`,
  ],
  [
    'secrets of a plain model',
    { model: 'plain', include: ['reasoning.encrypted_content'] },
    'Encrypted content is not supported with this model.',
  ],
  ['a long id of a call', { input: [hello, call('x'.repeat(65)), output('x')] }, 'maximum length 64'],
  ['an odd name of a call', { input: [hello, call('a', { name: 'a.b' }), output('a')] }, 'string does not match pattern'],
  ['arguments that are no JSON', { input: [hello, call('a', { arguments: '{' }), output('a')] }, 'input[1].arguments'],
  ['arguments that are no string', { input: [hello, call('a', { arguments: {} }), output('a')] }, 'expected a string, but got an object'],
  ['an id of another kind', { input: [hello, call('a', { id: 'toolu_1' }), output('a')] }, `Expected an ID that begins with 'fc'.`],
  ['a call without an output', { input: [hello, call('a')] }, 'No tool output found for function call a.'],
  ['a call whose output is late', { input: [hello, call('a'), hello, output('a')] }, 'No tool output found for function call a.'],
  [
    'a call of a batch without an output',
    { input: [hello, call('a'), call('b'), output('b'), said('so'), output('a')] },
    'No tool output found for function call a.',
  ],
  ['an output without a call', { input: [hello, output('a')] }, 'No tool call found for function call output with call_id a.'],
  ['an output that comes again', { input: [hello, call('a'), output('a'), output('a')] }, 'Duplicate function call output'],
  ['a call that comes again', { input: [hello, call('a'), output('a'), call('a'), output('a')] }, 'Duplicate function call'],
  [
    'an item that comes again',
    { input: [hello, { ...said('a'), id: 'msg_1' }, { ...said('b'), id: 'msg_1' }] },
    'Duplicate item found with id msg_1.',
  ],
  ['an output of no parts', { input: [hello, call('a'), output('a', { output: [] })] }, 'empty array'],
  [
    'reasoning of others',
    { store: false, input: [hello, { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAA' }, said('a')] },
    'could not be verified.',
  ],
  [
    'reasoning without a summary',
    { input: [hello, { type: 'reasoning', id: 'rs_1' }, said('a')] },
    `Missing required parameter: 'input[1].summary'.`,
  ],
  ['an older response', { previous_response_id: 'resp_1' }, `Previous response with id 'resp_1' not found.`],
  ['a choice that is none', { tool_choice: 'any' }, `Invalid value: 'any'.`],
];

test.each(refused)('%s is refused', async (_, change, why) => {
  await using model = await createFakeModel();
  const { status, message } = await rawAsk(model, 'openai-responses', { ...base, ...change });
  expect({ status, message }).toEqual({ status: 400, message: expect.stringContaining(why) });
  expect(model.refusals).toEqual([`openai-responses: ${message}`]);
});
