import type { ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import type { ModelDelta } from '../../src/providers/port.js';
import type { Api } from '../../src/machine/provider-config.js';
import type { Json } from '../support/fake-model/shape.js';
import { assistant, callsOf, called, contentFrom, createAsking, failureOf, result, textOf, thinkers, thinkingOf, user } from './asking.js';
import { createRawServer } from './raw-server.js';
import { createStrictModel } from './strict-model.js';

/** An event, or a line as it is. */
type Sent = Record<string, unknown> | string;

/** What is heard of a server that sends exactly these events. */
async function hear(api: Api, events: Sent[]): Promise<ModelDelta[]> {
  await using server = await createRawServer((response) => void speak(response, events));
  return await createAsking(api, server.url).ask();
}

function speak(response: ServerResponse, events: Sent[]): ServerResponse {
  return response.writeHead(200, { 'content-type': 'text/event-stream' }).end(events.map(toEvent).join(''));
}

function toEvent(event: Sent): string {
  if (typeof event === 'string') return `${event}\n\n`;
  return `${typeof event.type === 'string' ? `event: ${event.type}\n` : ''}data: ${JSON.stringify(event)}\n\n`;
}

const done = 'data: [DONE]';
const chunk = (delta: Json, finish_reason: string | null = null): Json => ({ choices: [{ index: 0, delta, finish_reason }] });
const finished = (reason: string): Json => chunk({}, reason);
const callOf = (name: string, json: unknown, more: Json = {}): Json => ({ ...more, function: { name, arguments: json } });

describe('a compatible server of Chat Completions', () => {
  test.each([0, 12_345])('may give a call the number %i for an id', async (id) => {
    const deltas = await hear('openai-chat', [
      chunk({ tool_calls: [callOf('echo', '{}', { index: 0, id })] }),
      finished('tool_calls'),
      done,
    ]);
    expect(callsOf(deltas)).toEqual([{ id: String(id), name: 'echo', json: '{}' }]);
    expect(contentFrom(deltas)).toMatchObject([{ type: 'tool_call', name: 'echo', arguments: {} }]);
  });

  test('may give arguments as an object', async () => {
    const deltas = await hear('openai-chat', [
      chunk({ tool_calls: [callOf('echo', { text: 'a' }, { index: 0, id: 'c' })] }),
      finished('tool_calls'),
    ]);
    expect(callsOf(deltas)).toEqual([{ id: 'c', name: 'echo', json: '{"text":"a"}' }]);
  });

  test('may have several calls at one index without ids, the first one without arguments', async () => {
    const deltas = await hear('openai-chat', [
      chunk({ tool_calls: [callOf('ls', '', { index: 0 })] }),
      chunk({ tool_calls: [callOf('echo', '{"text":"*"}', { index: 0 })] }),
      finished('tool_calls'),
      done,
    ]);
    expect(callsOf(deltas).map(({ name, json }) => [name, json])).toEqual([
      ['ls', ''],
      ['echo', '{"text":"*"}'],
    ]);
  });

  test.each<[string, Json]>([
    ['parts', chunk({ content: [{ type: 'text', text: 'hel' }, { text: 'lo' }] })],
    ['a whole message', { choices: [{ index: 0, message: { role: 'assistant', content: 'hello' } }] }],
  ])('may send its words as %s', async (_, said) => {
    expect(textOf(await hear('openai-chat', [said, finished('stop'), done]))).toBe('hello');
  });

  test.each(['insufficient_system_resource', 'network_error', 'abort', 'error'])('that stops with %s is asked again', async (reason) => {
    expect(failureOf(await hear('openai-chat', [chunk({ content: 'half' }), finished(reason), done])).retry).toEqual({});
  });

  test('that stops because the window is full was asked too much, or was cut', async () => {
    const nothing = await hear('openai-chat', [finished('model_context_window_exceeded'), done]);
    expect(failureOf(nothing).overflow).toBe(true);
    const half = await hear('openai-chat', [chunk({ content: 'half' }), finished('model_context_window_exceeded'), done]);
    expect(half.at(-1)).toMatchObject({ type: 'end', stopReason: 'length' });
  });

  test.each([
    'error: {"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error"}',
    'data: {"object":"error","message":"This model\'s maximum context length is 4096 tokens","code":400}',
  ])('may tell of an error in its own form: %s', async (event) => {
    expect(failureOf(await hear('openai-chat', [chunk({ role: 'assistant' }), event]))).toMatchObject({ overflow: true });
  });

  test('may leave out how it ends, if it says that it does', async () => {
    expect((await hear('openai-chat', [chunk({ content: 'whole' }), done])).at(-1)).toMatchObject({ type: 'end', stopReason: 'stop' });
    expect(failureOf(await hear('openai-chat', [chunk({ content: 'whole' })])).retry).toEqual({});
  });

  test('may break the connection once it has said how it ends', async () => {
    await using server = await createRawServer((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write([chunk({ content: 'whole' }), finished('stop')].map(toEvent).join(''), () => response.destroy());
    });
    const deltas = await createAsking('openai-chat', server.url).ask();
    expect(textOf(deltas)).toBe('whole');
    expect(deltas.at(-1)).toMatchObject({ type: 'end', stopReason: 'stop' });
  });

  test.each(['reasoning_content', 'reasoning'])('is given back what its model thought before a call, as %s', async (name) => {
    const call = chunk({ tool_calls: [callOf('echo', '{}', { index: 0, id: 'c' })] });
    const bodies: Json[] = [];
    await using server = await createRawServer(
      (response) => void speak(response, [chunk({ [name]: 'hm, ' }), chunk({ [name]: 'so' }), call, finished('tool_calls'), done]),
      (body) => bodies.push(JSON.parse(body)),
    );
    const { ask } = createAsking('openai-chat', server.url);
    const deltas = await ask();
    expect(thinkingOf(deltas)).toBe('hm, so');
    const said = contentFrom(deltas);
    await ask({ messages: [user('hello'), assistant(thinkers['openai-chat'], ...said), result('c', 'fine')] });
    await ask({ messages: [user('hello'), assistant('y/other', ...said), result('c', 'fine')] });
    const [, own, foreign] = bodies.map(({ messages }) => (messages as Json[]).find(({ role }) => role === 'assistant'));
    expect(own).toMatchObject({ [name]: 'hm, so', tool_calls: [{ id: 'c' }] });
    expect(JSON.stringify(foreign)).not.toContain('hm, so');
  });

  test('that wants ids of nine letters is asked again with such ids', async () => {
    await using fake = await createStrictModel();
    const message = 'Tool call id was toolu_01ABC but must be a-z, A-Z, 0-9, with a length of 9.';
    fake.script({ status: 400, body: JSON.stringify({ message, type: 'invalid_request_error', code: 3280 }) });
    const messages = [user('hello'), assistant('y/other', called('toolu_01ABC')), result('toolu_01ABC', 'fine')];
    expect(textOf(await createAsking('openai-chat', fake.baseUrl('openai-chat')).ask({ messages }))).toBe('ok');
    const [, said, answer] = fake.asked.at(-1)?.body.messages.slice(-3) as Json[];
    expect(said.tool_calls[0].id).toMatch(/^[a-z0-9]{9}$/);
    expect(answer.tool_call_id).toBe(said.tool_calls[0].id);
  });

  test.each([
    'The decoder prompt (length 40960) is longer than the maximum model length of 32768. Make sure that `max_model_len` is no smaller.',
    '`inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000 `inputs` tokens and 512 `max_new_tokens`',
  ])('may say that it was asked too much: %s', async (message) => {
    await using fake = await createStrictModel();
    fake.script({ status: 400, body: JSON.stringify({ error: { message } }) });
    expect(failureOf(await createAsking('openai-chat', fake.baseUrl('openai-chat')).ask()).overflow).toBe(true);
  });

  test('that tells how much a model can say is not asked for so much', async () => {
    const listed = { id: 'local-model', context_length: 262_144, top_provider: { max_completion_tokens: 262_144 } };
    let asked = '';
    await using server = await createRawServer(
      (response, request) => {
        if (request.method === 'GET')
          response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ data: [listed] }));
        else speak(response, [chunk({ content: 'ok' }), finished('stop'), done]);
      },
      (body) => (asked = body),
    );
    const { providers, ask } = createAsking('openai-chat', server.url);
    await providers.list();
    expect(providers.facts('x/local-model')).toMatchObject({ contextWindow: 262_144, maxOutput: 262_144 });
    await ask({ model: 'x/local-model' });
    expect(JSON.parse(asked)).not.toHaveProperty('max_tokens');
  });
});

describe('a compatible server of the Messages API', () => {
  const start = { type: 'message_start', message: { usage: { input_tokens: 3 } } };
  const block = (content_block: Json, index = 0): Json => ({ type: 'content_block_start', index, content_block });
  const stop = (index = 0): Json => ({ type: 'content_block_stop', index });
  const ends = (stop_reason: string): Json => ({ type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 3 } });
  const over = { type: 'message_stop' };

  test('may give a call a number for an id, and its arguments with its beginning', async () => {
    const events = [start, block({ type: 'tool_use', id: 7, name: 'echo', input: { text: 'a' } }), stop(), ends('tool_use'), over];
    expect(callsOf(await hear('anthropic', events))).toEqual([{ id: '7', name: 'echo', json: '{"text":"a"}' }]);
  });

  test('means the fragments when both come', async () => {
    const fragment = { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{"text":"b"}' } };
    const events = [
      start,
      block({ type: 'tool_use', id: 'c', name: 'echo', input: { text: 'a' } }),
      fragment,
      stop(),
      ends('tool_use'),
      over,
    ];
    expect(callsOf(await hear('anthropic', events))).toEqual([{ id: 'c', name: 'echo', json: '{"text":"b"}' }]);
  });

  test.each([{}, { text: null }])('may begin a text with %j', async (more) => {
    const said = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'hello' } };
    expect(textOf(await hear('anthropic', [start, block({ type: 'text', ...more }), said, stop(), ends('end_turn'), over]))).toBe('hello');
  });

  test('may leave out its last event', async () => {
    const deltas = await hear('anthropic', [start, block({ type: 'text', text: 'hello' }), stop(), ends('end_turn')]);
    expect(deltas.at(-1)).toMatchObject({ type: 'end', stopReason: 'stop' });
  });
});

describe('a compatible server of the Responses API', () => {
  const item = (more: Json): Json => ({ type: 'function_call', name: 'echo', arguments: '', ...more });
  const completed = { type: 'response.completed', response: { usage: null } };

  test.each<[string, Json[]]>([
    [
      'with its beginning',
      [{ type: 'response.output_item.added', output_index: 0, item: item({ call_id: 7, arguments: '{"text":"a"}' }) }],
    ],
    ['with its end alone', [{ type: 'response.output_item.done', output_index: 0, item: item({ call_id: 7, arguments: '{"text":"a"}' }) }]],
  ])('may give a call a number for an id, and its arguments %s', async (_, events) => {
    expect(callsOf(await hear('openai-responses', [...events, completed]))).toEqual([{ id: '7', name: 'echo', json: '{"text":"a"}' }]);
  });

  test('may send its words only whole', async () => {
    const at = { output_index: 0, content_index: 0 };
    const whole = { type: 'response.output_text.done', ...at, text: 'hello' };
    const message = { type: 'message', content: [{ type: 'output_text', text: 'hello' }] };
    const closed = { type: 'response.output_item.done', output_index: 0, item: message };
    const piece = { type: 'response.output_text.delta', ...at, delta: 'hello' };
    for (const events of [[whole], [closed], [whole, closed], [piece, whole, closed]]) {
      expect(textOf(await hear('openai-responses', [...events, completed]))).toBe('hello');
    }
  });

  test.each([500, '500', 429])('that fails in its answer with the code %j is asked again', async (code) => {
    const failed = { type: 'response.failed', response: { error: { code, message: 'busy' } } };
    expect(failureOf(await hear('openai-responses', [failed])).retry).toEqual({});
    expect(failureOf(await hear('openai-responses', [{ type: 'error', code, message: 'busy' }])).retry).toEqual({});
  });
});

test('where a server redirects to is told without the password in it', async () => {
  await using server = await createRawServer((response) => {
    response.writeHead(307, { location: 'https://user:pass@elsewhere.test/v1?key=x' }).end();
  });
  const { message } = failureOf(await createAsking('openai-chat', server.url).ask());
  expect(message).toContain('https://elsewhere.test/v1;');
});
