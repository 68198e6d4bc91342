import { describe, expect, test } from 'vitest';
import type { ModelDelta } from '../../src/providers/port.js';
import type { Api } from '../../src/machine/provider-config.js';
import { assistant, called, callsOf, contentFrom, createAsking, failureOf, result, textOf, thinkers, thinkingOf, user } from './asking.js';
import { createRawServer } from './raw-server.js';

/** What is heard of a server that sends a document where a stream is due. */
async function hear(api: Api, document: object): Promise<ModelDelta[]> {
  await using server = await createRawServer((response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document));
  });
  return await createAsking(api, server.url).ask();
}

const call = { name: 'echo', json: '{"text":"a"}' };
const documents: Record<Api, { words: object; calls: object }> = {
  'openai-chat': {
    words: {
      object: 'chat.completion',
      choices: [{ index: 0, message: { role: 'assistant', content: 'hello', reasoning_content: 'hm' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 7, completion_tokens: 2 },
    },
    calls: {
      choices: [
        {
          message: {
            content: null,
            tool_calls: [1, 2].map((n) => ({ id: `c${n}`, type: 'function', function: { name: call.name, arguments: call.json } })),
          },
        },
      ],
    },
  },
  'openai-responses': {
    words: {
      object: 'response',
      status: 'completed',
      output: [
        { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'hm' }] },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'hello' }] },
      ],
      usage: { input_tokens: 7, output_tokens: 2 },
    },
    calls: {
      object: 'response',
      status: 'completed',
      output: [1, 2].map((n) => ({ type: 'function_call', call_id: `c${n}`, name: call.name, arguments: call.json })),
    },
  },
  anthropic: {
    words: {
      type: 'message',
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'hm', signature: 'sig' },
        { type: 'text', text: 'hello' },
      ],
      stop_reason: 'end_turn',
      usage: { input_tokens: 7, output_tokens: 2 },
    },
    calls: {
      type: 'message',
      content: [1, 2].map((n) => ({ type: 'tool_use', id: `c${n}`, name: call.name, input: { text: 'a' } })),
      stop_reason: 'tool_use',
    },
  },
};

describe.each(Object.keys(documents) as Api[])('%s: a whole document instead of a stream', (api) => {
  test('is read as the answer that it is', async () => {
    const deltas = await hear(api, documents[api].words);
    expect(textOf(deltas)).toBe('hello');
    if (api !== 'openai-responses') expect(thinkingOf(deltas)).toBe('hm');
    expect(deltas.at(-1)).toMatchObject({ type: 'end', stopReason: 'stop', usage: { input: 7, output: 2 } });
  });

  test('may have calls', async () => {
    const deltas = await hear(api, documents[api].calls);
    expect(callsOf(deltas)).toEqual([
      { id: 'c1', ...call },
      { id: 'c2', ...call },
    ]);
    expect(contentFrom(deltas)).toMatchObject([{ arguments: { text: 'a' } }, { arguments: { text: 'a' } }]);
    expect(deltas.at(-1)).toMatchObject({ type: 'end', stopReason: 'tool_use' });
  });

  test('may be long', async () => {
    const text = 'x'.repeat(500_000);
    const words = JSON.parse(JSON.stringify(documents[api].words).replace('"hello"', JSON.stringify(text))) as object;
    expect(textOf(await hear(api, words))).toBe(text);
  });
});

describe('openai-responses: what an answer came to is what its status says', () => {
  const ended = (response: object): Promise<ModelDelta[]> => hear('openai-responses', { object: 'response', output: [], ...response });
  const usage = { input_tokens: 7, output_tokens: 2 };
  const counted = { input: 7, output: 2 };

  test('incomplete for its length', async () => {
    const deltas = await ended({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' }, usage });
    expect(deltas.at(-1)).toMatchObject({ type: 'end', stopReason: 'length', usage: counted });
  });

  test('stopped by a filter, with what it used up', async () => {
    const deltas = await ended({ status: 'incomplete', incomplete_details: { reason: 'content_filter' }, usage });
    expect(failureOf(deltas)).toMatchObject({ message: 'x stopped the answer because of its content filter', usage: counted });
  });

  test('failed', async () => {
    const deltas = await ended({ status: 'failed', error: { code: 'server_error', message: 'boom' }, usage });
    expect(failureOf(deltas)).toMatchObject({ cause: 'boom', retry: {}, usage: counted });
  });

  test('cancelled', async () => {
    expect(failureOf(await ended({ status: 'cancelled' })).retry).toEqual({});
  });
});

const nothing: [Api, object][] = [
  [
    'openai-chat',
    { choices: [{ message: { content: ' ', reasoning_content: 'hm' }, finish_reason: 'stop' }], usage: { prompt_tokens: 7 } },
  ],
  ['openai-responses', { object: 'response', status: 'completed', output: [], usage: { input_tokens: 7 } }],
  ['anthropic', { type: 'message', content: [], stop_reason: 'end_turn', usage: { input_tokens: 7 } }],
];

test.each(nothing)('%s: an answer in which nothing is said is asked for once more', async (api, empty) => {
  const { message, retry, usage } = failureOf(await hear(api, empty));
  expect(message).toMatch(/^x\/\S+ sent an empty answer$/);
  expect(retry).toEqual({ once: true });
  expect(usage).toMatchObject({ input: 7 });
});

test.each(nothing)('%s: after the results of its tools a model may have nothing to add', async (api, empty) => {
  await using server = await createRawServer((response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(empty));
  });
  const messages = [user('hello'), assistant(thinkers[api], called('c1')), result('c1', 'done')];
  expect((await createAsking(api, server.url).ask({ messages })).at(-1)).toMatchObject({ type: 'end', stopReason: 'stop' });
});

test.each<[Api, object]>([
  [
    'openai-chat',
    { choices: [{ message: { content: 'no' }, finish_reason: 'content_filter' }], usage: { prompt_tokens: 7, completion_tokens: 2 } },
  ],
  ['anthropic', { type: 'message', content: [], stop_reason: 'refusal', usage: { input_tokens: 7, output_tokens: 2 } }],
])('%s: an answer that a filter stopped says what it used up', async (api, document) => {
  expect(failureOf(await hear(api, document)).usage).toMatchObject({ input: 7, output: 2 });
});

test('what a router says that an answer cost is its cost', async () => {
  const usage = { prompt_tokens: 7, completion_tokens: 2 };
  const costOf = async (cost: unknown): Promise<unknown> => {
    const deltas = await hear('openai-chat', {
      choices: [{ message: { content: 'hi' }, finish_reason: 'stop' }],
      usage: { ...usage, cost },
    });
    return (deltas.at(-1) as { usage: { cost_usd: unknown } }).usage.cost_usd;
  };
  expect(await costOf(0.0125)).toBe(0.0125);
  expect(await costOf(0)).toBe(0);
  expect(await costOf('much')).toBe(null);
  expect(await costOf(-1)).toBe(null);
});
