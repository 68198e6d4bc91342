import { createServer } from 'node:net';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { guardStream } from '../../src/providers/http/sse-guard.js';
import type { BodyReader } from '../../src/providers/http/body-reader.js';
import type { ModelFailure } from '../../src/providers/port.js';
import { apis, type Api } from '../../src/machine/provider-config.js';
import type { Reply, Step, StreamError } from '../support/fake-model/reply.js';
import { sse } from '../support/fake-model/voice.js';
import { createAsking, failureOf, key, textOf } from './asking.js';
import { createRawServer, writeForever } from './raw-server.js';
import { createStrictModel } from './strict-model.js';

const cut = { message: 'x stopped in the middle of its answer', retry: {} };
const odd = (what: string): ModelFailure => ({ message: `x answered with ${what}, not as a model does; is its base_url right?` });
const megabyte = Buffer.alloc(1024 * 1024, 'x');

async function hear(api: Api, reply: Reply): Promise<{ text: string; types: string[]; failure: ModelFailure }> {
  await using fake = await createStrictModel();
  fake.script(reply);
  const deltas = await createAsking(api, fake.baseUrl(api)).ask();
  expect(fake.asked).toHaveLength(1);
  return { text: textOf(deltas), types: [...new Set(deltas.map(({ type }) => type))], failure: failureOf(deltas) };
}

describe.each(apis)('%s', (api) => {
  test('a connection that is reset before any answer may work the next time', async () => {
    const { types, failure } = await hear(api, 'reset');
    expect(types).toEqual(['failure']);
    expect(failure.message).toMatch(/^x: the connection was (reset|closed)$/);
    expect(failure.retry).toEqual({});
  });

  test('an answer whose connection breaks is told as far as it came, and may work the next time', async () => {
    const { text, types, failure } = await hear(api, [{ text: 'half an ans' }, { cut: true }]);
    expect(text).toBe('half an ans');
    expect(types).toEqual(['begin', 'text', 'failure']);
    expect(failure.message).toMatch(/^x: the connection (was closed|was reset|failed)$/);
    expect(failure.retry).toEqual({});
  });

  test.each<[string, Step[]]>([
    ['words', [{ text: 'half an ans' }]],
    ['arguments', [{ call: 'echo', args: '{"text":"half' }]],
    ['thoughts', [{ thinking: 'hm', pieces: 1 }]],
  ])('an answer that ends in the middle of its %s is cut', async (_, steps) => {
    expect((await hear(api, [...steps, { end: true }])).failure).toEqual(cut);
  });

  test('an answer with nothing in it is cut', async () => {
    expect((await hear(api, { status: 200, body: '' })).failure).toEqual(cut);
    expect((await hear(api, { status: 200, body: '\n\n' })).failure).toEqual(cut);
    expect((await hear(api, { status: 200, body: ': only a comment\n\n' })).failure).toEqual(cut);
  });

  test.each(['{"unfinished', 'garbage', '{"a":1}}'])('an event that is %s instead of JSON may be well the next time', async (data) => {
    const { text, failure } = await hear(api, [{ text: 'some' }, { raw: `event: odd\ndata: ${data}\n\n` }]);
    expect(text).toBe('some');
    expect(failure).toEqual({ message: 'x sent something that is not JSON', retry: {} });
  });

  test.each([
    'null',
    '17',
    '"text"',
    '[]',
    '{}',
    '{"type":"message_delta"}',
    '{"choices":null}',
    '{"choices":[{}]}',
    '{"choices":[{"delta":null}]}',
  ])('an event that is %s breaks nothing', async (data) => {
    const { text, failure } = await hear(api, [{ text: 'some' }, { raw: `event: odd\ndata: ${data}\n\n` }, { end: true }]);
    expect(text).toBe('some');
    expect([cut, odd('something that is not understood')]).toContainEqual({
      message: failure.message,
      ...(failure.retry && { retry: {} }),
    });
  });

  test.each<[string, Reply]>([
    ['with its own type', { status: 200, headers: { 'content-type': 'text/html' }, body: '\n <!doctype html><html>Welcome</html>' }],
    ['as a stream', [{ raw: '<html>\n\n' }, { raw: 'data: {}\n\n</html>' }]],
  ])('a web page %s is no answer', async (_, reply) => {
    expect((await hear(api, reply)).failure).toEqual(odd('a web page'));
  });

  test.each([{ object: 'chat.completion', choices: [] }, [1, 2], { data: 'x'.repeat(100_000) }])(
    'a document is no answer',
    async (body) => {
      expect((await hear(api, { status: 200, body })).failure).toEqual(odd('a document'));
    },
  );

  test('an event without end is cut off, and its sender hung up on', async () => {
    for (const bytes of [megabyte, Buffer.from(`data: ${'x'.repeat(1_000)}\n`.repeat(1_000))]) {
      let left: Promise<void> | undefined;
      await using server = await createRawServer((response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write('data: ');
        left = writeForever(response, bytes);
      });
      const failure = failureOf(await createAsking(api, server.url).ask());
      expect(failure).toEqual({ message: 'x sent an answer that is too long: an event of more than 33554432 bytes' });
      await left;
    }
  });

  test('a long event is read whole', async () => {
    await using fake = await createStrictModel();
    const long = 'x'.repeat(8 * 1024 * 1024);
    fake.script({ steps: [{ text: long, pieces: 1 }] });
    expect(textOf(await createAsking(api, fake.baseUrl(api)).ask())).toHaveLength(long.length);
  });

  test('an error without end is read as far as it is worth, and its sender hung up on', async () => {
    let left: Promise<void> | undefined;
    await using server = await createRawServer((response) => {
      response.writeHead(500, { 'content-type': 'text/plain' });
      left = writeForever(response, megabyte);
    });
    const failure = failureOf(await createAsking(api, server.url).ask());
    expect(failure).toMatchObject({ message: 'x had an internal server error', retry: {} });
    expect(failure.cause?.length).toBeLessThan(70_000);
    await left;
  });

  test('a redirect is told, and neither key nor question goes after it', async () => {
    await using other = await createRawServer((response) => response.end());
    for (const status of [301, 302, 307, 308]) {
      const { failure } = await hear(api, { status, headers: { location: `${other.url}/v1/x?y#z` }, body: '' });
      expect(failure.message).toBe(`x redirects to ${other.url}/v1/x; keys are not sent there: if that is right, make it the base_url`);
      expect(failure).not.toHaveProperty('retry');
    }
    expect(other.requests).toEqual([]);
  });

  test('an address at which nothing answers may answer the next time', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const deltas = await createAsking(api, `http://127.0.0.1:${port}`).ask();
    expect(deltas).toEqual([
      { type: 'failure', message: 'x: connection refused: no server listens at its address', cause: 'ECONNREFUSED', retry: {} },
    ]);
  });

  test('a host that does not exist is told as that', async () => {
    const failure = failureOf(await createAsking(api, 'http://nothing.invalid').ask());
    expect(failure.message).toMatch(/^x: its host name cannot be resolved( now)? \(DNS\)$/);
    expect(failure.retry).toEqual({});
  });

  test('a server that does not speak HTTP is trouble with the connection', async () => {
    await using server = await createRawServer((response) => void response.socket?.end('SSH-2.0-OpenSSH_9.6\r\n'));
    const failure = failureOf(await createAsking(api, server.url).ask());
    expect(failure.message).toMatch(/^x: the connection/);
    expect(failure.retry).toEqual({});
    expect(JSON.stringify(failure)).not.toContain(key);
  });

  test.each(['refusal', 'content_filter'] as const)('an answer that is stopped because of %s says why', async (stop) => {
    await using fake = await createStrictModel();
    fake.script({ steps: [{ text: 'I will not.' }], stop });
    const deltas = await createAsking(api, fake.baseUrl(api)).ask();
    expect(textOf(deltas)).toBe('I will not.');
    if (stop === 'refusal' && api !== 'anthropic') {
      expect(deltas.at(-1)).toMatchObject({ type: 'end', stopReason: 'stop' });
    } else {
      const message = api === 'anthropic' ? 'x declined to answer this' : 'x stopped the answer because of its content filter';
      expect(failureOf(deltas)).toEqual({ message, usage: expect.objectContaining({ output: expect.any(Number) }) });
    }
  });

  test('an error within a stream comes after what was said', async () => {
    const { text, types, failure } = await hear(api, [{ text: 'half' }, { error: { message: 'Oops', type: 'server_error' } }]);
    expect(text).toBe('half');
    expect(types).toEqual(['begin', 'text', 'failure']);
    expect(failure).toEqual({ message: 'x had an internal server error', cause: 'Oops', retry: {} });
  });
});

test.each<[Api, StreamError, Partial<ModelFailure>]>([
  ['anthropic', { type: 'overloaded_error', message: 'Overloaded' }, { message: 'x is overloaded', retry: {} }],
  ['anthropic', { type: 'rate_limit_error', message: 'would exceed your token limit' }, { message: 'x: rate limit reached', retry: {} }],
  ['anthropic', { type: 'api_error', message: 'Internal server error' }, { message: 'x had an internal server error', retry: {} }],
  ['anthropic', { type: 'invalid_request_error', message: 'no' }, { message: 'x refused the request' }],
  ['openai-responses', { type: 'server_error', message: 'no', form: 'flat' }, { message: 'x had an internal server error', retry: {} }],
  ['openai-responses', { type: 'rate_limit_exceeded', message: 'no', form: 'flat' }, { message: 'x: rate limit reached', retry: {} }],
  ['openai-responses', { type: 'server_error', message: 'no', form: 'nested' }, { message: 'x had an internal server error', retry: {} }],
  ['openai-responses', { type: 'rate_limit_exceeded', message: 'no', form: 'nested' }, { message: 'x: rate limit reached', retry: {} }],
  ['openai-responses', { type: 'server_error', message: 'no', form: 'failed' }, { message: 'x had an internal server error', retry: {} }],
  ['openai-responses', { type: 'rate_limit_exceeded', message: 'no', form: 'failed' }, { message: 'x: rate limit reached', retry: {} }],
  ['openai-responses', { type: 'invalid_prompt', message: 'no', form: 'failed' }, { message: 'x refused the request' }],
  ['openai-chat', { type: 'server_error', message: 'no' }, { message: 'x had an internal server error', retry: {} }],
  ['openai-chat', { type: 'insufficient_quota', message: 'no' }, { message: expect.stringContaining('no credit') }],
])('%s: an error within a stream is sorted as one before it: %o', async (api, error, expected) => {
  const { failure } = await hear(api, [{ text: 'so' }, { error }]);
  expect(failure).toEqual({ cause: error.message, ...expected });
});

test.each<[unknown, Partial<ModelFailure>]>([
  [{ error: { code: 502, message: 'Provider disconnected' } }, { message: 'x had an internal server error', retry: {} }],
  [{ error: { code: 429, message: 'Slow down' } }, { message: 'x: rate limit reached', retry: {} }],
  [{ error: { code: 400, message: 'Bad' } }, { message: 'x refused the request' }],
  [{ error: { message: 'Unnamed' } }, { message: 'x had an internal server error', retry: {} }],
  [{ error: 'A text' }, { message: 'x had an internal server error', retry: {} }],
  [{ choices: [{ index: 0, delta: { content: '' }, finish_reason: 'error' }] }, cut],
])('openai-chat: errors of other servers within a stream are understood: %j', async (event, expected) => {
  const { failure } = await hear('openai-chat', [{ text: 'so' }, { raw: sse(event) }, { end: true }]);
  expect(failure).toMatchObject(expected);
  expect('retry' in failure).toBe('retry' in expected);
});

test('openai-responses: a response that failed for no reason may work the next time', async () => {
  const raw = sse({ type: 'response.failed', response: { status: 'failed', error: null } }, 'response.failed');
  expect((await hear('openai-responses', [{ text: 'so' }, { raw }])).failure).toMatchObject({ retry: {} });
});

test('arguments of a call that never gets a name are not kept for ever', async () => {
  let left: Promise<void> | undefined;
  await using server = await createRawServer((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const chunk = { choices: [{ index: 0, delta: { tool_calls: [{ index: 0, function: { arguments: 'x'.repeat(10_000) } }] } }] };
    left = writeForever(response, `data: ${JSON.stringify(chunk)}\n\n`);
  });
  const failure = failureOf(await createAsking('openai-chat', server.url).ask());
  expect(failure).toEqual({ message: 'x sent an answer that is too long: a call that has arguments and no name' });
  await left;
});

test('an answer that comes without a pause leaves everybody else their turn', async () => {
  const chunk = Buffer.from(': keep-alive\n\n'.repeat(4_096));
  let chunks = 0;
  const source: BodyReader = {
    next: () => Promise.resolve(chunks++ < 50 ? { done: false, value: chunk } : { done: true, value: undefined }),
    return: () => Promise.resolve({ done: true, value: undefined }),
    [Symbol.asyncIterator]: () => source,
  };
  for (const pieceBytes of [2_048, Infinity]) {
    chunks = 0;
    let bytes = 0;
    let longest = 0;
    let before = 0;
    const turn = (): void => {
      longest = Math.max(longest, bytes - before);
      before = bytes;
      immediate = setImmediate(turn);
    };
    let immediate = setImmediate(turn);
    for await (const piece of guardStream(source, () => undefined, { pieceBytes })) bytes += piece.length;
    turn();
    clearImmediate(immediate);
    expect(bytes).toBe(50 * chunk.length);
    expect(longest).toBeLessThanOrEqual(pieceBytes === Infinity ? chunk.length : 20_000);
  }
});
