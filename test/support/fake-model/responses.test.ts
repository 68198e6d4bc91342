import OpenAI from 'openai';
import { expect, test } from 'vitest';
import { badKey, overflow, overloaded, quota, rateLimited } from './failures.js';
import type { Reply } from './reply.js';
import { createFakeModel, type FakeModel } from './server.js';
import type { Json } from './shape.js';

type Params = Partial<OpenAI.Responses.ResponseCreateParamsStreaming>;
type Input = OpenAI.Responses.ResponseInput;
const tools: OpenAI.Responses.FunctionTool[] = [{ type: 'function', name: 'read', parameters: { type: 'object' }, strict: false }];
const hello = { role: 'user' as const, content: 'hello' };
const stateless: Params = { store: false, include: ['reasoning.encrypted_content'], tools };

function ask(model: FakeModel, params: Params = {}) {
  const client = new OpenAI({ apiKey: 'key', baseURL: model.baseUrl('openai-responses'), maxRetries: 0, logLevel: 'off' });
  return client.responses.create({ model: 'gpt', input: 'hello', ...params, stream: true });
}

async function eventsOf(model: FakeModel, reply: Reply, params?: Params): Promise<Json[]> {
  model.script(reply);
  const events: Json[] = [];
  for await (const event of await ask(model, params)) events.push(event);
  return events;
}

async function outputOf(model: FakeModel, reply: Reply, params?: Params): Promise<Json[]> {
  return (await eventsOf(model, reply, params)).at(-1).response.output;
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

test('text comes a word at a time, in an item of the output', async () => {
  await using model = await createFakeModel();
  const events = await eventsOf(model, { steps: [{ text: 'one two' }], usage: { input: 10, output: 4, cacheRead: 7, reasoning: 1 } });
  expect(events.map(({ type }) => type)).toEqual([
    'response.created',
    'response.in_progress',
    'response.output_item.added',
    'response.content_part.added',
    'response.output_text.delta',
    'response.output_text.delta',
    'response.output_text.done',
    'response.content_part.done',
    'response.output_item.done',
    'response.completed',
  ]);
  expect(events.map(({ sequence_number: n }) => n)).toEqual(events.map((_, i) => i));
  expect(events.at(-1).response).toMatchObject({
    status: 'completed',
    output: [{ type: 'message', status: 'completed', content: [{ type: 'output_text', text: 'one two' }] }],
    usage: { input_tokens: 17, input_tokens_details: { cached_tokens: 7 }, output_tokens: 4, total_tokens: 21 },
  });
  expect(model.asked[0]).toMatchObject({ api: 'openai-responses', text: 'hello', toolResults: [] });
});

test('reasoning is summed up, and encrypted for those who ask', async () => {
  await using model = await createFakeModel();
  const steps: Reply = [{ thinking: 'let me see' }, { call: 'read', args: { path: 'a' } }];
  const events = await eventsOf(model, steps, stateless);
  expect(events.map(({ type }) => type).filter((type: string) => type.includes('reasoning'))).toEqual([
    'response.reasoning_summary_part.added',
    'response.reasoning_summary_text.delta',
    'response.reasoning_summary_text.delta',
    'response.reasoning_summary_text.delta',
    'response.reasoning_summary_text.done',
    'response.reasoning_summary_part.done',
  ]);
  const output: Json[] = events.at(-1).response.output;
  expect(output).toMatchObject([
    { type: 'reasoning', summary: [{ type: 'summary_text', text: 'let me see' }], encrypted_content: expect.stringMatching(/^gAAAA/) },
    { type: 'function_call', name: 'read', arguments: '{"path":"a"}', call_id: expect.stringMatching(/^call_\w{24}$/) },
  ]);
  const result = { type: 'function_call_output' as const, call_id: output[1].call_id, output: 'text' };
  const goOn = (reasoning: Json, params: Params = stateless) =>
    outputOf(model, [{ text: 'done' }], { ...params, input: [hello, reasoning, output[1], result] as Input });
  expect(await goOn(output[0])).toMatchObject([{ content: [{ text: 'done' }] }]);
  expect(model.asked.at(-1)).toMatchObject({ text: 'hello', toolResults: [{ id: output[1].call_id, text: 'text', isError: false }] });
  expect(model.refusals).toEqual([]);
  const unfinished = events.find(({ type }) => type === 'response.output_item.added').item;
  await expect(goOn(unfinished)).rejects.toThrow('could not be verified');
  await expect(goOn(output[0], { ...stateless, model: 'other' })).rejects.toThrow('could not be verified');
  await expect(goOn(output[0], { tools })).rejects.toThrow('Items are not persisted when `store` is set to false');
  await expect(goOn({ ...output[0], encrypted_content: null })).rejects.toThrow('404 Item with id');
  await expect(outputOf(model, [], { ...stateless, input: [hello, output[0]] })).rejects.toThrow('without its required following item');
});

test('reasoning that was stored needs no more than its id', async () => {
  await using model = await createFakeModel();
  const output = await outputOf(model, [{ redacted: 'gAAAAsecret' }, { text: 'hi' }]);
  expect(output[0]).not.toHaveProperty('encrypted_content');
  await outputOf(model, [{ text: 'done' }], { input: [hello, ...output, hello] });
  expect(model.refusals).toEqual([]);
});

test('what is hidden and what is given is the encrypted content', async () => {
  await using model = await createFakeModel();
  const output = await outputOf(model, [{ redacted: 'gAAAAone' }, { thinking: 'b', signature: 'gAAAAtwo' }, { text: 'c' }], stateless);
  expect(output).toMatchObject([
    { summary: [], encrypted_content: 'gAAAAone' },
    { summary: [{ text: 'b' }], encrypted_content: 'gAAAAtwo' },
    { type: 'message' },
  ]);
});

test('calls come in parallel, with their arguments in fragments', async () => {
  await using model = await createFakeModel();
  const calls = [
    { name: 'read', args: { path: 'abc' }, id: 'one', pieces: 4 },
    { name: 'read', args: 'oops', id: 'two' },
  ];
  const events = await eventsOf(model, [{ text: 'look' }, { calls, interleaved: true }], { tools });
  const fragments = events.filter(({ type }) => type === 'response.function_call_arguments.delta');
  expect(fragments.map(({ output_index: index }) => index)).toEqual([1, 1, 1, 1, 2, 2, 2]);
  expect(events.at(-1).response.output).toMatchObject([
    { type: 'message' },
    { call_id: 'one', arguments: '{"path":"abc"}', status: 'completed' },
    { call_id: 'two', arguments: 'oops' },
  ]);
});

test('it stops for the reason that is given', async () => {
  await using model = await createFakeModel();
  const short = await eventsOf(model, { steps: [{ call: 'read', args: '{"pa' }], stop: 'length' }, { tools });
  expect(short.at(-1)).toMatchObject({
    type: 'response.incomplete',
    response: {
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      output: [{ status: 'incomplete', arguments: '{"pa' }],
    },
  });
  const filtered = await eventsOf(model, { steps: [{ text: 'a' }], stop: 'content_filter' });
  expect(filtered.at(-1).response.incomplete_details).toEqual({ reason: 'content_filter' });
  const refused = await eventsOf(model, { steps: [{ text: 'no' }], stop: 'refusal' });
  expect(refused.map(({ type }) => type)).toContain('response.refusal.delta');
  expect(refused.at(-1).response.output[0].content).toEqual([{ type: 'refusal', refusal: 'no' }]);
});

test('failures are those of the provider', async () => {
  await using model = await createFakeModel();
  const refused = async (reply: Reply) => (await broken(model, reply)).error;
  expect(await refused(rateLimited('openai-responses', '7'))).toMatchObject({ status: 429, code: 'rate_limit_exceeded' });
  expect(await refused(rateLimited('openai-responses'))).toBeInstanceOf(OpenAI.RateLimitError);
  expect(await refused(overloaded('openai-responses'))).toMatchObject({ status: 503, code: 'server_is_overloaded' });
  expect(await refused(quota('openai-responses'))).toMatchObject({ status: 429, code: 'insufficient_quota' });
  expect(await refused(overflow('openai-responses'))).toMatchObject({ status: 400, code: 'context_length_exceeded', param: 'input' });
  expect(await refused(badKey('openai-responses', 'sk-secret'))).toMatchObject({
    status: 401,
    message: expect.stringContaining('sk-secret'),
  });
});

test('an error in the stream is thrown only in the form that is not documented', async () => {
  await using model = await createFakeModel();
  const failing = (form: 'flat' | 'nested' | 'failed'): Reply => [
    { text: 'a' },
    { error: { type: 'server_error', message: 'boom', form } },
  ];
  expect((await eventsOf(model, failing('flat'))).at(-1)).toMatchObject({ type: 'error', code: 'server_error', message: 'boom' });
  expect((await eventsOf(model, failing('failed'))).at(-1)).toMatchObject({
    type: 'response.failed',
    response: { status: 'failed', error: { code: 'server_error', message: 'boom' } },
  });
  const { error } = await broken(model, failing('nested'));
  expect(error).toBeInstanceOf(OpenAI.APIError);
  expect(error).toMatchObject({ status: undefined, code: 'server_error', message: 'boom' });
});

test('a stream that is cut ends with an error which is not of the SDK', async () => {
  await using model = await createFakeModel();
  const { events, error } = await broken(model, [{ text: 'a b' }, { cut: true }]);
  expect(events.at(-1).type).toBe('response.output_text.delta');
  expect(error).not.toBeInstanceOf(OpenAI.OpenAIError);
  expect(error).toMatchObject({ name: 'TypeError', message: 'terminated', cause: { code: 'UND_ERR_SOCKET' } });
});

test('a clean end without the closing events goes unnoticed by the SDK', async () => {
  await using model = await createFakeModel();
  expect((await eventsOf(model, [{ text: 'a' }, { end: true }])).at(-1).type).toBe('response.output_text.delta');
  expect(await eventsOf(model, [{ end: true }])).toEqual([]);
});

test('garbage is a SyntaxError', async () => {
  await using model = await createFakeModel();
  expect((await broken(model, [{ raw: 'data: {oops\n\n' }])).error).toBeInstanceOf(SyntaxError);
});

test('a stalled stream stays open until the peer leaves', async () => {
  await using model = await createFakeModel();
  model.script([{ ping: true }, { text: 'a' }, { stall: true }]);
  const stream = await ask(model);
  for await (const event of stream) if (event.type === 'response.output_text.delta') stream.controller.abort();
  expect(await model.asked[0]!.closed).toBe('left');
});
