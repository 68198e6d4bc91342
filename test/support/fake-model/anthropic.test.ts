import Anthropic from '@anthropic-ai/sdk';
import { expect, test } from 'vitest';
import { overflow, overloaded, quota, rateLimited } from './failures.js';
import type { Reply } from './reply.js';
import { createFakeModel, type FakeModel } from './server.js';
import type { Json } from './shape.js';

type Params = Partial<Anthropic.MessageCreateParamsStreaming>;
const tools: Anthropic.Tool[] = [{ name: 'read', input_schema: { type: 'object' } }];

function clientOf(model: FakeModel): Anthropic {
  return new Anthropic({ apiKey: 'key', baseURL: model.baseUrl('anthropic'), maxRetries: 0, logLevel: 'off' });
}

function ask(model: FakeModel, params: Params = {}) {
  return clientOf(model).messages.create({
    model: 'claude',
    max_tokens: 4096,
    messages: [{ role: 'user', content: 'hello' }],
    ...params,
    stream: true,
  });
}

async function eventsOf(model: FakeModel, reply: Reply, params?: Params): Promise<Json[]> {
  model.script(reply);
  const events: Json[] = [];
  for await (const event of await ask(model, params)) events.push(event);
  return events;
}

/** The events up to what went wrong. */
async function broken(model: FakeModel, reply: Reply): Promise<{ events: Json[]; error: Json }> {
  model.script(reply);
  const events: Json[] = [];
  try {
    for await (const event of await ask(model)) events.push(event);
  } catch (error) {
    return { events, error };
  }
  throw new Error(`nothing went wrong: ${JSON.stringify(events.at(-1))}`);
}

async function finalOf(model: FakeModel, reply: Reply, params: Params = {}): Promise<Anthropic.Message> {
  model.script(reply);
  const body = { model: 'claude', max_tokens: 4096, messages: [{ role: 'user' as const, content: 'hello' }], ...params };
  return clientOf(model).messages.stream(body).finalMessage();
}

test('text comes a word at a time, between the events that open and close it', async () => {
  await using model = await createFakeModel();
  const events = await eventsOf(model, { steps: [{ text: 'one two' }], usage: { input: 10, output: 4, cacheRead: 7, cacheWrite: 3 } });
  expect(events.map(({ type }) => type)).toEqual([
    'message_start',
    'content_block_start',
    'content_block_delta',
    'content_block_delta',
    'content_block_stop',
    'message_delta',
    'message_stop',
  ]);
  expect(events[0].message.usage).toMatchObject({ input_tokens: 10, cache_read_input_tokens: 7, cache_creation_input_tokens: 3 });
  expect(events[2].delta).toEqual({ type: 'text_delta', text: 'one ' });
  expect(events[5]).toMatchObject({ delta: { stop_reason: 'end_turn' }, usage: { input_tokens: 10, output_tokens: 4 } });
});

test('what is not scripted is answered with ok, and what was asked is there to see', async () => {
  await using model = await createFakeModel();
  const texts: Json[] = [];
  for await (const event of await ask(model, { system: 'be brief' })) texts.push((event as Json).delta?.text);
  expect(texts.filter(Boolean)).toEqual(['ok']);
  const asked = await model.next();
  expect(asked).toMatchObject({ api: 'anthropic', text: 'hello', toolResults: [], refusal: undefined, body: { system: 'be brief' } });
  expect(await asked.closed).toBe('done');
  expect(model.refusals).toEqual([]);
});

test('thinking is signed, and is known again when it comes back as it was', async () => {
  await using model = await createFakeModel();
  const thinking = { type: 'enabled' as const, budget_tokens: 1024 };
  const steps: Reply = [{ thinking: 'let me see' }, { redacted: 'c2VjcmV0' }, { text: 'I look' }, { call: 'read', args: { path: 'a' } }];
  const first = await finalOf(model, steps, { tools, thinking });
  expect(first.content).toMatchObject([
    { type: 'thinking', thinking: 'let me see' },
    { type: 'redacted_thinking', data: 'c2VjcmV0' },
    { type: 'text', text: 'I look' },
    { type: 'tool_use', name: 'read', input: { path: 'a' } },
  ]);
  expect(first.stop_reason).toBe('tool_use');
  const id = (first.content[3] as Anthropic.ToolUseBlock).id;
  expect(id).toMatch(/^toolu_01\w{22}$/);
  const goOn = (content: Anthropic.ContentBlock[]) =>
    finalOf(model, [{ text: 'done' }], {
      tools,
      thinking,
      messages: [
        { role: 'user', content: 'hello' },
        { role: 'assistant', content },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'text', is_error: true }] },
      ],
    });
  expect((await goOn(first.content)).content).toMatchObject([{ text: 'done' }]);
  expect(model.asked.at(-1)).toMatchObject({ text: 'hello', toolResults: [{ id, text: 'text', isError: true }] });
  expect(model.refusals).toEqual([]);
  await expect(goOn(first.content.with(0, { ...(first.content[0] as Anthropic.ThinkingBlock), thinking: 'let me' }))).rejects.toThrow(
    'messages.1.content.0: Invalid `signature` in `thinking` block',
  );
});

test('a signature that is given closes the block; one that is not comes when it is closed', async () => {
  await using model = await createFakeModel();
  const message = await finalOf(model, [{ thinking: 'a', signature: 'sig' }, { thinking: 'b' }, { thinking: 'c' }, { text: 'd' }]);
  expect(message.content.map((block: Json) => block.thinking ?? block.text)).toEqual(['a', 'bc', 'd']);
  expect(message.content[0]).toMatchObject({ signature: 'sig' });
});

test('calls come in parallel, with their arguments in fragments', async () => {
  await using model = await createFakeModel();
  const events = await eventsOf(
    model,
    [
      { call: 'read', args: { path: 'abc' }, pieces: 4, id: 'one' },
      { call: 'read', args: '{"pa', id: 'two' },
    ],
    {
      tools,
    },
  );
  const starts = events.filter(({ type }) => type === 'content_block_start').map(({ index, content_block: { id } }) => [index, id]);
  expect(starts).toEqual([
    [0, 'one'],
    [1, 'two'],
  ]);
  const fragments = events.flatMap(({ index, delta }) => (index === 0 && delta ? [delta.partial_json] : []));
  expect(fragments).toHaveLength(5);
  expect(JSON.parse(fragments.join(''))).toEqual({ path: 'abc' });
});

test('it stops for the reason that is given', async () => {
  await using model = await createFakeModel();
  const reasons: unknown[] = [];
  for (const stop of ['length', 'refusal', 'content_filter'] as const) {
    reasons.push((await finalOf(model, { steps: [{ text: 'a' }], stop })).stop_reason);
  }
  expect(reasons).toEqual(['max_tokens', 'refusal', 'refusal']);
});

test('failures are those of the provider', async () => {
  await using model = await createFakeModel();
  const refused = async (reply: Reply) => (await broken(model, reply)).error;
  expect(await refused(rateLimited('anthropic', 3))).toMatchObject({ status: 429, type: 'rate_limit_error' });
  expect((await refused(rateLimited('anthropic', { ms: 5 }))).headers.get('retry-after-ms')).toBe('5');
  expect((await refused(rateLimited('anthropic', new Date(0)))).headers.get('retry-after')).toBe('Thu, 01 Jan 1970 00:00:00 GMT');
  expect(await refused(overloaded('anthropic'))).toBeInstanceOf(Anthropic.OverloadedError);
  expect(await refused(quota('anthropic'))).toMatchObject({
    status: 400,
    apiMessage: expect.stringContaining('credit balance is too low'),
  });
  expect(await refused(overflow('anthropic', 9, 8))).toMatchObject({ apiMessage: 'prompt is too long: 9 tokens > 8 maximum' });
  expect(await refused({ status: 500 })).toMatchObject({ status: 500, type: 'api_error' });
  expect(await refused({ status: 502, body: '<html>' })).toMatchObject({ status: 502, message: '502 <html>' });
});

test('an error in the stream is an APIError without a status', async () => {
  await using model = await createFakeModel();
  const { events, error } = await broken(model, [{ text: 'a' }, { error: { message: 'too much' } }]);
  expect(events.at(-1)).toMatchObject({ type: 'content_block_delta' });
  expect(error).toBeInstanceOf(Anthropic.APIError);
  expect(error).toMatchObject({ status: undefined, type: 'overloaded_error', apiMessage: 'too much' });
});

test('a stream that is cut ends with an error which is not of the SDK', async () => {
  await using model = await createFakeModel();
  const { events, error } = await broken(model, [{ text: 'a b' }, { call: 'read', args: '{"pa' }, { cut: true }]);
  expect(events.at(-1).delta.partial_json).toBe('a');
  expect(events.filter(({ type }) => type === 'content_block_stop')).toHaveLength(1);
  expect(error).not.toBeInstanceOf(Anthropic.AnthropicError);
  expect(error).toMatchObject({ name: 'TypeError', message: 'terminated', cause: { code: 'UND_ERR_SOCKET' } });
  expect(await model.asked[0]!.closed).toBe('done');
});

test('a reset before any byte is a connection error', async () => {
  await using model = await createFakeModel();
  const { error } = await broken(model, 'reset');
  expect(error).toBeInstanceOf(Anthropic.APIConnectionError);
  expect(error.cause.cause.code).toBe('ECONNRESET');
});

test('a clean end without the closing events goes unnoticed by the SDK', async () => {
  await using model = await createFakeModel();
  const events = await eventsOf(model, [{ text: 'a' }, { end: true }]);
  expect(events.at(-1).type).toBe('content_block_delta');
});

test('garbage is a SyntaxError, unless its event has no name: then the SDK skips it', async () => {
  await using model = await createFakeModel();
  const { error } = await broken(model, [{ raw: 'event: message_start\ndata: {oops\n\n' }]);
  expect(error).toBeInstanceOf(SyntaxError);
  const events = await eventsOf(model, [{ text: 'a' }, { raw: 'data: {oops\n\n' }, { ping: true }]);
  expect(events.at(-1).type).toBe('message_stop');
});

test('a stalled stream stays open until the peer leaves', async () => {
  await using model = await createFakeModel();
  model.script([{ text: 'a' }, { stall: true }]);
  const stream = await ask(model);
  for await (const event of stream) if (event.type === 'content_block_delta') stream.controller.abort();
  expect(await model.asked[0]!.closed).toBe('left');
});

test('text survives being torn between deltas and between bytes', async () => {
  await using model = await createFakeModel();
  const text = 'año 😀👩‍🚀 日本';
  const torn = await eventsOf(model, [{ text, pieces: text.length }]);
  const deltas = torn.flatMap(({ delta }) => delta?.text ?? []);
  expect(deltas.some((delta: string) => !delta.isWellFormed())).toBe(true);
  expect(deltas.join('')).toBe(text);
  const message = await finalOf(model, { steps: [{ text }], chunkBytes: 1 });
  expect(message.content).toMatchObject([{ text }]);
});
