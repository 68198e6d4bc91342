import { spawn } from 'node:child_process';
import { getEventListeners, once } from 'node:events';
import type { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { createHttpFetch } from '../../src/providers/http/http-fetch.js';
import { closed } from '../support/raw-client.js';
import { createRawServer } from './raw-server.js';
import { createWire, ok, onRequests, readWhole } from './wire.js';

function listenersOf(signal: AbortSignal): number {
  return getEventListeners(signal, 'abort').length;
}

describe('an abort', () => {
  const reason = new Error('not any more');

  test('before anything asks nobody', async () => {
    await using wire = await createWire(() => undefined);
    await expect(createHttpFetch()(wire.url, { headers: {}, signal: AbortSignal.abort() })).rejects.toMatchObject({ name: 'AbortError' });
    await expect(createHttpFetch()(wire.url, { headers: {}, signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(wire.sockets).toEqual([]);
  });

  test('while it connects is one', async () => {
    await using wire = await createWire(() => undefined);
    const stop = new AbortController();
    const asking = createHttpFetch()(wire.url, { headers: {}, signal: stop.signal });
    stop.abort();
    await expect(asking).rejects.toMatchObject({ name: 'AbortError' });
    expect(listenersOf(stop.signal)).toBe(0);
  });

  test('while the request is sent hangs up', async () => {
    await using wire = await createWire((socket) => void socket.pause());
    const stop = new AbortController();
    const asking = createHttpFetch()(wire.url, { method: 'POST', headers: {}, body: 'x'.repeat(16 * 1024 * 1024), signal: stop.signal });
    const socket = await wire.next();
    stop.abort();
    await expect(asking).rejects.toMatchObject({ name: 'AbortError' });
    socket.resume();
    await closed(socket);
  });

  test('before the headers hangs up', async () => {
    const stop = new AbortController();
    await using wire = await createWire((socket) => onRequests(socket, () => stop.abort()));
    const asking = createHttpFetch()(wire.url, { headers: {}, signal: stop.signal });
    const socket = await wire.next();
    await expect(asking).rejects.toMatchObject({ name: 'AbortError' });
    await closed(socket);
    expect(listenersOf(stop.signal)).toBe(0);
  });

  test('in the middle of the answer hangs up, and what was not read is not given', async () => {
    const stop = new AbortController();
    await using wire = await createWire((socket) =>
      onRequests(socket, () => void socket.write('HTTP/1.1 200 OK\r\ncontent-length: 80\r\n\r\nsome')),
    );
    const { body } = await createHttpFetch()(wire.url, { headers: {}, signal: stop.signal });
    await body.next();
    const reading = body.next();
    stop.abort();
    await expect(reading).rejects.toMatchObject({ name: 'AbortError' });
    const [socket] = wire.sockets;
    await closed(socket!);
    expect(listenersOf(stop.signal)).toBe(0);
  });

  test('is not needed by a reader who leaves a server that never closes', async () => {
    let left: Promise<unknown> | undefined;
    await using server = await createRawServer((response) => {
      left = once(response, 'close');
      response.writeHead(200).write('some');
    });
    const signal = new AbortController().signal;
    const answer = await createHttpFetch()(server.url, { headers: {}, signal });
    for await (const bytes of answer.body) {
      expect(String(Buffer.from(bytes))).toBe('some');
      break;
    }
    await left;
    expect(listenersOf(signal)).toBe(0);
  });

  test('after the end changes nothing, and no listener is left', async () => {
    const stop = new AbortController();
    await using server = await createRawServer((response) => response.end('ok'));
    const answer = await createHttpFetch()(server.url, { headers: {}, signal: stop.signal });
    expect(await readWhole(answer)).toBe('ok');
    expect(listenersOf(stop.signal)).toBe(0);
    stop.abort();
    expect(await answer.body.next()).toEqual({ done: true, value: undefined });
  });
});

describe('a connection', () => {
  test('is used again', async () => {
    await using wire = await createWire((socket) => onRequests(socket, () => void socket.write(ok)));
    const fetch = createHttpFetch();
    for (let i = 0; i < 5; i++) expect(await readWhole(await fetch(wire.url, { headers: {} }))).toBe('ok');
    expect(wire.sockets).toHaveLength(1);
  });

  test('that is not used for a while is closed', async () => {
    await using wire = await createWire((socket) => onRequests(socket, () => void socket.write(ok)));
    expect(await readWhole(await createHttpFetch({ keptMs: 10 })(wire.url, { headers: {} }))).toBe('ok');
    await closed(wire.sockets[0]!);
  });

  test.each(['end', 'resetAndDestroy'] as const)('that was used before and is dead (%s) loses no request', async (hangUp) => {
    const asked: string[] = [];
    await using wire = await createWire((socket, at) =>
      onRequests(socket, (text) => {
        asked.push(`${at} ${text.slice(-4)}`);
        if (asked.length === 2) socket[hangUp]();
        else socket.write(ok);
      }),
    );
    const fetch = createHttpFetch();
    for (const body of ['one.', 'two.']) expect(await readWhole(await fetch(wire.url, { method: 'POST', headers: {}, body }))).toBe('ok');
    expect(asked).toEqual(['0 one.', '0 two.', '1 two.']);
  });

  test.each([0, 1, 2, 3])('that is closed right after each answer, %i turns later, is never noticed', async (turns) => {
    async function hangUpLater(socket: Socket): Promise<void> {
      for (let i = 0; i < turns; i++) await new Promise((resolve) => setImmediate(resolve));
      socket.destroy();
    }
    let answered = 0;
    await using wire = await createWire((socket) =>
      onRequests(socket, () => {
        answered++;
        socket.write(ok, () => void hangUpLater(socket));
      }),
    );
    const fetch = createHttpFetch();
    const asked = 100;
    for (let i = 0; i < asked; i++) {
      expect(await readWhole(await fetch(wire.url, { method: 'POST', headers: {}, body: `${i}` }))).toBe('ok');
    }
    // A request that was seen twice was seen before its connection broke; most are seen once.
    expect(answered).toBeGreaterThanOrEqual(asked);
  });

  test('that is dead, too, when it is new is not tried a third time', async () => {
    let asked = 0;
    await using wire = await createWire((socket) => onRequests(socket, () => (++asked === 1 ? socket.write(ok) : socket.end())));
    const fetch = createHttpFetch();
    expect(await readWhole(await fetch(wire.url, { headers: {} }))).toBe('ok');
    await expect(fetch(wire.url, { headers: {} })).rejects.toMatchObject({ message: 'fetch failed', cause: { code: 'HUNG_UP' } });
    expect(asked).toBe(3);
  });

  test('that breaks after the first byte of an answer is not asked again on another', async () => {
    let asked = 0;
    await using wire = await createWire((socket) =>
      onRequests(socket, () => (++asked === 1 ? socket.write(ok) : socket.end('HTTP/1.1 200 O'))),
    );
    const fetch = createHttpFetch();
    expect(await readWhole(await fetch(wire.url, { headers: {} }))).toBe('ok');
    await expect(fetch(wire.url, { headers: {} })).rejects.toMatchObject({ message: 'fetch failed' });
    expect(asked).toBe(2);
  });

  test('that is dead is not replaced for somebody who has left', async () => {
    let asked = 0;
    const stop = new AbortController();
    await using wire = await createWire((socket) =>
      onRequests(socket, () => {
        if (++asked === 1) return void socket.write(ok);
        stop.abort();
        socket.end();
      }),
    );
    const fetch = createHttpFetch();
    expect(await readWhole(await fetch(wire.url, { headers: {} }))).toBe('ok');
    await expect(fetch(wire.url, { headers: {}, signal: stop.signal })).rejects.toMatchObject({ name: 'AbortError' });
    expect(wire.sockets).toHaveLength(1);
  });

  test('that stays is not what a process stays for', async () => {
    await using wire = await createWire((socket) => onRequests(socket, () => void socket.write(ok)));
    const script = `
      import { createHttpFetch } from ${JSON.stringify(new URL('../../src/providers/http/http-fetch.ts', import.meta.url).href)};
      const { body } = await createHttpFetch({ keptMs: 60_000 })(${JSON.stringify(wire.url)}, { headers: {} });
      for await (const bytes of body) process.stdout.write(bytes);
    `;
    const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let out = '';
    child.stdout.on('data', (bytes) => (out += String(bytes)));
    expect(await once(child, 'close')).toEqual([0, null]);
    expect(out).toBe('ok');
  });
});
