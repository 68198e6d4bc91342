import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { limits } from '../../src/protocol/limits.js';
import { startDaemon, type TestDaemon } from '../support/daemon.js';
import { closed, type RawClient } from '../support/raw-client.js';
import { done, expectAlive, isEvent, listenTo, measureLines, newSession, refusalOf, say } from '../support/wire.js';

let daemon: TestDaemon;
let client: RawClient;

beforeAll(async () => {
  daemon = await startDaemon();
});
beforeEach(async () => {
  client = await daemon.raw();
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

describe('lines that cannot be read', () => {
  test.each([
    ['broken JSON', '{"v":1,\n'],
    ['words', 'hello there\n'],
    ['single quotes', "{'id':'a'}\n"],
    ['two objects', '{"id":"a","type":"ping"}{"id":"b","type":"ping"}\n'],
    ['null', 'null\n'],
    ['a number', '42\n'],
    ['a string', '"x"\n'],
    ['an array', '[]\n'],
    ['a boolean', 'true\n'],
    ['invalid UTF-8', Buffer.from([0x7b, 0xff, 0xfe, 0x7d, 0x0a])],
    ['a surrogate in UTF-8', Buffer.concat([Buffer.from('{"id":"'), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from('","type":"ping"}\n')])],
    ['UTF-16', Buffer.from('{"id":"a","type":"ping"}\n\u0a00', 'utf16le')],
    ['a byte order mark', '\ufeff{"id":"a","type":"ping"}\n'],
    ['a hundred thousand brackets', `${'['.repeat(100_000)}\n`],
    ['a hundred thousand brackets, closed', `${'['.repeat(100_000)}${']'.repeat(100_000)}\n`],
    ['a hundred thousand objects', `{"id":"a","type":"ping","payload":${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}}\n`],
    [
      'a hundred thousand members',
      `{"id":"a","type":"ping","payload":{${Array.from({ length: 100_000 }, (_, i) => `"k${i}":1`).join(',')}}}\n`,
    ],
  ])('%s gets one invalid_command without an id, and the next command works', async (_, line) => {
    client.send(line);
    client.send('\n{"id":"after","type":"ping"}\n');
    const after = await client.until(({ id }) => id === 'after');
    expect(after.type).toBe('pong');
    const others = client.lines.filter((read) => read !== after);
    expect(others.length).toBeGreaterThanOrEqual(1);
    for (const other of others) {
      expect(other).toMatchObject({
        v: '1',
        id: '',
        type: 'error',
        ok: false,
        payload: {},
        error: { code: 'invalid_command', retryable: false },
      });
      expect(other.error?.details).toBeTypeOf('object');
    }
    if (!Buffer.isBuffer(line)) expect(others).toHaveLength(1);
  });

  test.each([
    ['no id', { type: 'ping' }, 'id', ''],
    ['an empty id', { id: '', type: 'ping' }, 'id', ''],
    ['a number for an id', { id: 5, type: 'ping' }, 'id', ''],
    ['an id that is too long', { id: 'x'.repeat(limits.envelopeIdCharsMax + 1), type: 'ping' }, 'id', ''],
    ['no type', { id: 'a' }, 'type', 'a'],
    ['a number for a type', { id: 'a', type: 7 }, 'type', 'a'],
    ['an empty type', { id: 'a', type: '' }, 'type', 'a'],
    ['an unknown type', { id: 'a', type: 'no_such_command' }, 'type', 'a'],
    ['a type of Object.prototype', { id: 'a', type: 'constructor' }, 'type', 'a'],
    ['another type of Object.prototype', { id: 'a', type: 'hasOwnProperty' }, 'type', 'a'],
    ['__proto__ for a type', { id: 'a', type: '__proto__' }, 'type', 'a'],
    ['a payload that is a list', { id: 'a', type: 'ping', payload: [] }, 'payload', 'a'],
    ['a payload that is null', { id: 'a', type: 'ping', payload: null }, 'payload', 'a'],
    ['a payload that is a string', { id: 'a', type: 'ping', payload: 'x' }, 'payload', 'a'],
    ['a meta that is no object', { id: 'a', type: 'ping', meta: 5 }, 'meta', 'a'],
  ])('%s is refused by name, with the id where there is one', async (_, command, field, id) => {
    client.send(command);
    const reply = await client.next();
    expect(reply.id).toBe(id);
    const error = refusalOf(reply);
    expect(['invalid_command', 'invalid_payload']).toContain(error.code);
    expect(error.details.field).toBe(field);
    expect((await client.call('ping')).type).toBe('pong');
  });
});

describe('what is forgiven', () => {
  test('CRLF, blank lines and spaces cause no errors', async () => {
    client.send('\r\n\n  \n\t\r\n  {"id":"a","type":"ping"}  \r\n\n{"id":"b","type":"ping"}\r\n');
    await client.until(({ id }) => id === 'b');
    expect(client.lines.map(({ id, type }) => [id, type])).toEqual([
      ['a', 'pong'],
      ['b', 'pong'],
    ]);
  });

  test('a last line without its end is dropped', async () => {
    client.send('{"id":"a","type":"ping"}\n{"id":"b","type":"ping"}');
    client.socket.end();
    await client.ended();
    expect(client.lines.map(({ id }) => id)).toEqual(['a']);
  });

  test('v may be absent, "1" or 1, and payload may be absent', async () => {
    for (const v of [undefined, '1', 1]) {
      client.send({ v, id: `v${String(v)}`, type: 'ping' });
      expect((await client.until(({ id }) => id === `v${String(v)}`)).ok).toBe(true);
    }
  });

  test('fields nobody knows are ignored, in the envelope and in the payload', async () => {
    client.send({ id: 'a', type: 'ping', payload: { surprise: [1, { deep: true }] }, extra: {}, meta: { trace: 'x' } });
    expect((await client.next()).type).toBe('pong');
  });
});

describe('versions', () => {
  test.each([0, 2, 999, '0', '2', '1.0', '01', ' 1', '', null, true, [], ['1'], { major: 1 }].map((v) => ({ v })))(
    'version $v is told the supported ones, with the id',
    async ({ v }) => {
      client.send({ v, id: 'a', type: 'ping' });
      const reply = await client.next();
      expect(reply.id).toBe('a');
      expect(refusalOf(reply)).toMatchObject({ code: 'unsupported_version', retryable: false, details: { supported: ['1'] } });
      expect((await client.call('ping')).ok).toBe(true);
    },
  );

  test('a version that fills a line is refused with a line that fits', async () => {
    const frame = Buffer.byteLength('{"v":"","id":"a","type":"ping"}');
    for (const text of ['x'.repeat(limits.lineBytesMax - frame), '\\"'.repeat((limits.lineBytesMax - frame) / 2)]) {
      const one = await daemon.raw();
      const longest = measureLines(one);
      one.send(`{"v":"${text}","id":"a","type":"ping"}\n`);
      expect(refusalOf(await one.next()).code).toBe('unsupported_version');
      expect(longest()).toBeLessThanOrEqual(limits.lineBytesMax);
      one.close();
    }
  });
});

describe('long lines', () => {
  /** A ping of exactly so many bytes. */
  function pingOf(bytes: number): string {
    const [head, tail] = ['{"id":"long","type":"ping","payload":{"x":"', '"}}'];
    return head + 'x'.repeat(bytes - head.length - tail.length) + tail;
  }

  test('a line of exactly the bound is a command like any other', async () => {
    client.send(`${pingOf(limits.lineBytesMax)}\n{"id":"next","type":"ping"}\n`);
    expect((await client.next()).id).toBe('long');
    expect((await client.next()).id).toBe('next');
  });

  test('one byte more is an error, the connection is closed and nobody else notices', async () => {
    const other = await daemon.raw();
    client.send(`${pingOf(limits.lineBytesMax + 1)}\n{"id":"next","type":"ping"}\n`);
    const reply = await client.next();
    expect(reply.id).toBe('');
    expect(refusalOf(reply)).toMatchObject({ code: 'invalid_command', details: { line_bytes_max: limits.lineBytesMax } });
    await client.ended();
    expect(client.lines).toHaveLength(1);
    expect((await other.call('ping')).ok).toBe(true);
  });

  test('an endless line is cut off at the bound, whether its sender looks or not, and costs nothing', async () => {
    await using other = await startDaemon();
    const piece = Buffer.alloc(1024 * 1024, 'x');
    const endless = 64;

    async function pour(looks: boolean): Promise<void> {
      const from = await other.raw();
      if (!looks) from.socket.pause();
      let over = false;
      const stop = (looks ? from.until(() => true) : closed(from.socket)).then(() => (over = true));
      let sent = 0;
      for (; sent < endless && !over; sent++) {
        await Promise.race([stop, new Promise<void>((resolve) => from.socket.write(piece, () => resolve()))]);
      }
      if (!looks) {
        from.close();
        return;
      }
      expect(sent).toBeLessThan(endless);
      expect(refusalOf(await from.next()).code).toBe('invalid_command');
      await from.ended();
    }
    // What reading long lines at all costs is paid first.
    for (let i = 0; i < 10; i++) await pour(i % 2 === 0);
    // When V8 collects, and when it takes more room for that, is its own affair: it makes a step now and then. What is kept for each line
    // would be more at nearly every look than at the one before.
    const grown: number[] = [];
    for (let look = 0, before = other.rssBytes(); look < 5; look++) {
      for (let i = 0; i < 4; i++) await pour(i % 2 === 0);
      await expectAlive(other);
      const bytes = other.rssBytes();
      grown.push(bytes - before);
      before = bytes;
    }
    grown.sort((a, b) => a - b);
    expect(grown[2]).toBeLessThan(8 * 1024 * 1024);
  });

  test('a line that comes a byte at a time is read as if it came at once', async () => {
    for (const byte of Buffer.from('{"id":"slow😀","type":"ping"}\n')) client.socket.write(Buffer.of(byte));
    expect((await client.next()).id).toBe('slow😀');
  });
});

describe('text', () => {
  test('characters cut in two by writes are stored and told whole, wherever the cut is', async () => {
    const text = 'say a é € 😀 👩‍👩‍👧 z';
    const sessionId = await newSession(client);
    const events = await listenTo(daemon, { session_id: sessionId });
    const line = Buffer.from(`${JSON.stringify({ id: 'p', type: 'prompt', payload: { text, session_id: sessionId } })}\n`);
    const from = line.indexOf('say');
    const to = line.indexOf(' z"');
    for (let at = from; at <= to; at++) {
      const one = await daemon.raw();
      one.send(line.subarray(0, at));
      // The first half has arrived when a later connection is answered.
      await client.call('ping');
      one.send(line.subarray(at));
      expect(done(await one.next()).output).toBe(text.slice(4));
      one.close();
    }
    const { messages } = done(await client.call('get_messages', { session_id: sessionId }));
    const users = messages.filter(({ role }: { role: string }) => role === 'user');
    expect(users.length).toBe(to - from + 1);
    for (const message of messages) expect(message.text).toBe(message.role === 'user' ? text : text.slice(4));
    await events.until((event) => event.payload.message_id === messages.at(-1).id && event.type === 'message_end');
    const told = events.lines
      .filter((event) => event.type === 'message_end')
      .map((event) => (event.payload.message as { text: string }).text);
    expect(told).toEqual(messages.map((message: { text: string }) => message.text));
  });

  test.each([
    ['a lone surrogate becomes U+FFFD', '"say a\\ud800b"', 'say a\ufffdb'],
    ['two halves in the wrong order become two U+FFFD', '"say a\\udc00\\ud800b"', 'say a\ufffd\ufffdb'],
    ['an escaped pair is one character', '"say \\ud83d\\ude00"', 'say 😀'],
    ['NUL', '"say a\\u0000b"', 'say a\u0000b'],
    ['control characters', '"say a\\u0001\\u001b[2Jb\\u007f"', 'say a\u0001\u001b[2Jb\u007f'],
    ['line separators', '"say a\u2028b\\u2029c\u0085d"', 'say a\u2028b\u2029c\u0085d'],
    ['quotes, backslashes and newlines', '"say \\"a\\"\\n\\\\ \\r\\n \\/ b"', 'say "a"\n\\ \r\n / b'],
    ['the last characters there are', '"say \uffff\\u{0}"'.replace('\\u{0}', '\u{10ffff}'), 'say \uffff\u{10ffff}'],
    ['a byte order mark inside', '"say a\ufeffb"', 'say a\ufeffb'],
  ])('%s, and is the same in the store, the events and the answer', async (_, json, expected) => {
    const sessionId = await newSession(client);
    const events = await listenTo(daemon, { session_id: sessionId });
    client.send(`{"id":"odd","type":"prompt","payload":{"text":${json},"session_id":"${sessionId}"}}\n`);
    const { output } = done(await client.until(({ id }) => id === 'odd'));
    expect(output).toBe(expected.slice(4));
    const { messages } = done(await client.call('get_messages', { session_id: sessionId }));
    expect(messages.map(({ text }: { text: string }) => text)).toEqual([expected, expected.slice(4)]);
    await events.until(isEvent('agent_end'));
    const told = events.lines
      .filter((event) => event.type === 'message_end')
      .map((event) => (event.payload.message as { text: string }).text);
    expect(told).toEqual([expected, expected.slice(4)]);
    const replay = await listenTo(daemon, { session_id: sessionId, after: 0 });
    await replay.until(isEvent('agent_end'));
    expect(
      replay.lines.filter((event) => event.type === 'message_end').map((event) => (event.payload.message as { text: string }).text),
    ).toEqual(told);
  });

  test('a lone surrogate is replaced in everything that is kept: titles, models, folders, answers', async () => {
    const sessionId = await newSession(client, { title: 'a\ud800b' });
    const events = await listenTo(daemon, { session_id: sessionId });
    for (const payload of [{ title: 'x\udc00y' }, { model: 'offline/gu\ud800ide' }]) {
      const reply = await client.call('update_session', { ...payload, session_id: sessionId });
      if (!reply.ok) expect(refusalOf(reply).code).toBe('invalid_payload');
    }
    const odd = await client.call('new_session', { cwd: '/tmp/\ud800' });
    if (!odd.ok) expect(refusalOf(odd)).toMatchObject({ code: 'invalid_payload', details: { field: 'cwd' } });
    else expect(done(await client.call('get_state', { session_id: odd.payload.session_id })).cwd.isWellFormed()).toBe(true);
    const state = done(await client.call('get_state', { session_id: sessionId }));
    expect(state.title).toBe('x\ufffdy');
    await events.until(isEvent('session_update', { title: 'x\ufffdy' }));
    const last = { ...state };
    for (const { payload } of events.lines.filter(isEvent('session_update'))) Object.assign(last, payload);
    expect({ title: last.title, model: last.model }).toEqual({ title: state.title, model: state.model });
  });

  test('a lone surrogate in an answer to a question is the same for the model, the log and the history', async () => {
    const sessionId = await newSession(client);
    const events = await listenTo(daemon, { session_id: sessionId });
    client.send({ id: 'ask', type: 'prompt', payload: { text: 'ask me', session_id: sessionId } });
    for (const [method, result] of [
      ['select', 'north'],
      ['confirm', true],
      ['input', 'the \ud800 ship'],
      ['editor', 'day \udfff'],
    ] as const) {
      const request = await events.until(isEvent('ui_request', { method }));
      done(await client.call('ui_response', { request_id: request.payload.request_id, result }));
    }
    await events.until(isEvent('agent_end'));
    const texts = (lines: typeof events.lines) =>
      lines.filter((event) => event.type === 'message_end').map((event) => (event.payload.message as { text: string }).text);
    const { messages } = done(await client.call('get_messages', { session_id: sessionId }));
    expect(texts(events.lines)).toEqual(messages.map(({ text }: { text: string }) => text));
    for (const { text } of messages) expect(text.isWellFormed()).toBe(true);
    expect(done(await client.until(({ id }) => id === 'ask')).output).toBe(messages.at(-1).text);
  });
});

describe('hostile keys', () => {
  test('names of Object.prototype are data wherever a name can stand', async () => {
    for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'prototype']) {
      const sessionId = await newSession(client, { title: name });
      expect(done(await client.call('get_state', { session_id: sessionId })).title).toBe(name);
      expect(refusalOf(await client.call('get_state', { session_id: name })).code).toBe('session_not_found');
      expect(refusalOf(await client.call('attach', { session_id: name })).code).toBe('session_not_found');
      expect(refusalOf(await client.call('set_active_tools', { tools: [name], session_id: sessionId })).message).toBe(
        'tool_not_registered',
      );
      expect(refusalOf(await client.call('extension_command', { name })).message).toBe('extension_command_not_found');
      expect(refusalOf(await client.call('update_session', { model: `${name}/x`, session_id: sessionId })).code).toBe('invalid_payload');
      expect(refusalOf(await client.call('get_artifact', { artifact_id: name })).code).toBe('invalid_payload');
      expect((await client.call('prompt', { text: `say ${name}`, session_id: sessionId, input_id: name })).payload.output).toBe(name);
      expect(done(await client.call('search_messages', { query: name })).messages.length).toBeGreaterThan(0);
    }
  });

  test('a __proto__ key changes nobody', async () => {
    client.send(
      '{"id":"a","type":"hello","payload":{"__proto__":{"role":"observer"},"client":{"__proto__":{"name":"evil"},"name":"me"}},"__proto__":{"type":"shutdown"}}\n',
    );
    expect((await client.next()).type).toBe('hello');
    const { clients } = done(await client.call('list_clients'));
    expect(clients.find(({ name }: { name: string }) => name === 'me')).toMatchObject({ role: 'controller' });
    await newSession(client);
    const { limits: told } = done(await client.call('hello', {}));
    expect(told.polluted).toBeUndefined();
  });

  test('calls that only a bad model makes end as error results, and the daemon goes on', async () => {
    const sessionId = await newSession(client);
    const { output } = await say(client, sessionId, 'call nonsense');
    expect(output).toContain('8 calls are done');
    await expectAlive(daemon);
  });
});

describe('numbers at their edges', () => {
  const edges = ['1e999', '-1e999', '-1', '1.5', '9007199254740993', '1e400', '0.1', '-0.5', 'null', '"5"', 'true'];

  test.each([
    ['get_messages', 'limit', 'session_id'],
    ['list_sessions', 'limit', ''],
    ['search_messages', 'limit', ''],
    ['list_runs', 'limit', 'session_id'],
    ['attach', 'limit', 'session_id'],
    ['get_artifact', 'offset', ''],
    ['get_artifact', 'limit', ''],
    ['update_queued', 'revision', ''],
    ['update_queued', 'position', ''],
  ])('%s refuses a %s that is none', async (type, field, needs) => {
    const sessionId = await newSession(client);
    for (const edge of [...edges, ...(field === 'limit' ? ['0', '-0', '501', '1e7'] : [])]) {
      if (type === 'get_artifact' && field === 'limit' && edge === '501') continue;
      const rest = {
        ...(needs === '' ? {} : { session_id: sessionId }),
        query: 'x',
        artifact_id: 'art_1',
        input_id: 'inp_1',
        ...(field === 'revision' ? {} : { revision: 1 }),
      };
      const payload = `${JSON.stringify(rest).slice(0, -1)},"${field}":${edge}}`;
      client.send(`{"id":${JSON.stringify(edge)},"type":"${type}","payload":${payload}}\n`);
      const error = refusalOf(await client.until(({ id }) => id === edge));
      expect({ edge, code: error.code, field: error.details.field }).toEqual({ edge, code: 'invalid_payload', field });
    }
  });

  test('subscribe refuses an after that is none, and takes -0 for 0', async () => {
    const events = await daemon.rawEvents();
    for (const edge of edges) {
      events.send(`{"id":${JSON.stringify(edge)},"type":"subscribe","payload":{"session_id":"*","after":${edge}}}\n`);
      const error = refusalOf(await events.until(({ id }) => id === edge));
      expect({ edge, code: error.code, field: error.details.field }).toEqual({ edge, code: 'invalid_payload', field: 'after' });
    }
    events.send('{"id":"z","type":"subscribe","payload":{"session_id":"*","after":-0}}\n');
    done(await events.until(({ id }) => id === 'z'));
    events.close();
  });

  test('an after of 2^53-1 is past the end', async () => {
    const events = await daemon.rawEvents();
    events.send({ id: 'a', type: 'subscribe', payload: { session_id: '*', after: Number.MAX_SAFE_INTEGER } });
    expect(refusalOf(await events.until(({ id }) => id === 'a')).code).toBe('cursor_expired');
    events.close();
  });

  test('a cursor of list_sessions that no page gave is refused by name', async () => {
    for (const cursor of ['', 'x', 'x:y', 'NaN:ses_1', '1e999:ses_1', '5', ':', '1:', '-1:ses_', '1.5:ses_1', "1:' OR 1=1 --"]) {
      const reply = await client.call('list_sessions', { cursor });
      if (reply.ok) expect({ cursor, sessions: reply.payload.sessions }).toEqual({ cursor, sessions: [] });
      else expect(refusalOf(reply)).toMatchObject({ code: 'invalid_payload', details: { field: 'cursor' } });
    }
  });
});
