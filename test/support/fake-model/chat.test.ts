import OpenAI from 'openai';
import { expect, test } from 'vitest';
import { overflow, overloaded, quota, rateLimited } from './failures.js';
import type { Reply } from './reply.js';
import { createFakeModel, type FakeModel } from './server.js';
import type { Json } from './shape.js';

type Params = Partial<OpenAI.ChatCompletionCreateParamsStreaming>;
const tools: OpenAI.ChatCompletionTool[] = [{ type: 'function', function: { name: 'read', parameters: { type: 'object' } } }];

function ask(model: FakeModel, params: Params = {}) {
  const client = new OpenAI({ apiKey: 'key', baseURL: model.baseUrl('openai-chat'), maxRetries: 0, logLevel: 'off' });
  return client.chat.completions.create({ model: 'gpt', messages: [{ role: 'user', content: 'hello' }], ...params, stream: true });
}

async function chunksOf(model: FakeModel, reply: Reply, params?: Params): Promise<Json[]> {
  model.script(reply);
  const chunks: Json[] = [];
  for await (const chunk of await ask(model, params)) chunks.push(chunk);
  return chunks;
}

function deltasOf(chunks: Json[]): Json[] {
  return chunks.flatMap(({ choices }) => choices.map(({ delta }: Json) => delta));
}

/** The chunks up to what went wrong. */
async function broken(model: FakeModel, reply: Reply): Promise<{ chunks: Json[]; error: Json }> {
  model.script(reply);
  const chunks: Json[] = [];
  try {
    for await (const chunk of await ask(model)) chunks.push(chunk);
  } catch (error) {
    return { chunks, error };
  }
  throw new Error(`nothing went wrong: ${JSON.stringify(chunks.at(-1))}`);
}

test('text comes a word at a time, and usage only for those who ask', async () => {
  await using model = await createFakeModel();
  const reply: Reply = { steps: [{ text: 'one two' }], usage: { input: 10, output: 4, cacheRead: 7 } };
  const chunks = await chunksOf(model, reply);
  expect(deltasOf(chunks)).toEqual([{ role: 'assistant', content: '', refusal: null }, { content: 'one ' }, { content: 'two' }, {}]);
  expect(chunks.at(-1).choices[0].finish_reason).toBe('stop');
  expect(chunks.some((chunk) => 'usage' in chunk)).toBe(false);
  const counted = await chunksOf(model, reply, { stream_options: { include_usage: true } });
  expect(counted.slice(0, -1).every(({ usage }) => usage === null)).toBe(true);
  expect(counted.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 17, completion_tokens: 4, total_tokens: 21 } });
  expect(model.asked[0]).toMatchObject({ api: 'openai-chat', text: 'hello', toolResults: [] });
  expect(model.refusals).toEqual([]);
});

test('what the model thinks comes beside the text', async () => {
  await using model = await createFakeModel();
  const chunks = await chunksOf(model, [{ thinking: 'let me' }, { redacted: 'x' }, { text: 'ok' }]);
  expect(deltasOf(chunks).slice(1, -1)).toEqual([{ reasoning_content: 'let ' }, { reasoning_content: 'me' }, { content: 'ok' }]);
});

test('calls come one after the other, or with their fragments in turns', async () => {
  await using model = await createFakeModel();
  const calls = [
    { name: 'read', args: { path: 'a' }, id: 'one', pieces: 2 },
    { name: 'read', args: { path: 'bcd' }, id: 'two', pieces: 3 },
  ];
  const indexes = async (interleaved: boolean) => {
    const chunks = await chunksOf(model, [{ calls, interleaved }, { call: 'read' }], { tools });
    expect(chunks.at(-1).choices[0].finish_reason).toBe('tool_calls');
    const parts = deltasOf(chunks).flatMap((delta) => delta.tool_calls ?? []);
    const json = [0, 1, 2].map((at) => parts.flatMap(({ index, function: f }) => (index === at ? [f.arguments] : [])).join(''));
    expect(json).toEqual(['{"path":"a"}', '{"path":"bcd"}', '{}']);
    return parts.map(({ index }) => index).join('');
  };
  expect(await indexes(false)).toBe('0001111222');
  expect(await indexes(true)).toBe('0101011222');
});

test('results of calls are read from the messages that follow them', async () => {
  await using model = await createFakeModel();
  const call = { type: 'function' as const, function: { name: 'read', arguments: '{}' } };
  await chunksOf(model, [{ text: 'done' }], {
    tools,
    messages: [
      { role: 'user', content: 'hello' },
      {
        role: 'assistant',
        tool_calls: [
          { ...call, id: 'one' },
          { ...call, id: 'two' },
        ],
      },
      { role: 'tool', tool_call_id: 'two', content: [{ type: 'text', text: 'b' }] },
      { role: 'tool', tool_call_id: 'one', content: 'a' },
      { role: 'user', content: [{ type: 'text', text: 'go on' }] },
    ],
  });
  expect(model.refusals).toEqual([]);
  expect(model.asked[0]!.text).toBe('go on');
  expect(model.asked[0]!.toolResults).toEqual([
    { id: 'two', text: 'b', isError: false },
    { id: 'one', text: 'a', isError: false },
  ]);
});

test('it stops for the reason that is given', async () => {
  await using model = await createFakeModel();
  const reasonOf = async (reply: Reply) => (await chunksOf(model, reply)).at(-1).choices[0].finish_reason;
  expect(await reasonOf({ steps: [{ text: 'a' }], stop: 'length' })).toBe('length');
  expect(await reasonOf({ steps: [{ text: 'a' }], stop: 'content_filter' })).toBe('content_filter');
  const refused = await chunksOf(model, { steps: [{ text: 'no' }], stop: 'refusal' });
  expect(deltasOf(refused)).toContainEqual({ refusal: 'no' });
});

test('failures are those of the provider', async () => {
  await using model = await createFakeModel();
  const refused = async (reply: Reply) => (await broken(model, reply)).error;
  expect(await refused(rateLimited('openai-chat', 7))).toMatchObject({ status: 429, code: 'rate_limit_exceeded' });
  expect(await refused(overloaded('openai-chat'))).toBeInstanceOf(OpenAI.InternalServerError);
  expect(await refused(quota('openai-chat'))).toMatchObject({ status: 429, type: 'insufficient_quota' });
  expect(await refused(overflow('openai-chat', 9, 8))).toMatchObject({ status: 400, param: 'messages', code: 'context_length_exceeded' });
});

test('an error in the stream is an APIError without a status', async () => {
  await using model = await createFakeModel();
  const { error } = await broken(model, [{ text: 'a' }, { error: { message: 'boom' } }]);
  expect(error).toBeInstanceOf(OpenAI.APIError);
  expect(error).toMatchObject({ status: undefined, type: 'server_error', message: 'boom' });
});

test('a stream that is cut ends with an error which is not of the SDK', async () => {
  await using model = await createFakeModel();
  const { chunks, error } = await broken(model, [{ text: 'a b' }, { cut: true }]);
  expect(deltasOf(chunks)).toHaveLength(3);
  expect(error).not.toBeInstanceOf(OpenAI.OpenAIError);
  expect(error).toMatchObject({ name: 'TypeError', message: 'terminated' });
});

test('a clean end without the closing events goes unnoticed by the SDK', async () => {
  await using model = await createFakeModel();
  const chunks = await chunksOf(model, [{ text: 'a' }, { end: true }]);
  expect(chunks.at(-1).choices[0].finish_reason).toBeNull();
});

test('garbage is a SyntaxError', async () => {
  await using model = await createFakeModel();
  expect((await broken(model, [{ text: 'a' }, { raw: 'data: {oops\n\n' }])).error).toBeInstanceOf(SyntaxError);
});

test('a stalled stream stays open until the peer leaves', async () => {
  await using model = await createFakeModel();
  model.script([{ ping: true }, { text: 'a' }, { stall: true }]);
  const stream = await ask(model);
  for await (const chunk of stream) if (chunk.choices[0]?.delta.content === 'a') stream.controller.abort();
  expect(await model.asked[0]!.closed).toBe('left');
});
