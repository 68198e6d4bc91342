import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import type { DecodedLine } from '../../src/protocol/ndjson.js';
import { openConnection } from '../../src/server/connection.js';
import { createFairQueue } from '../../src/server/budgets/fair-queue.js';
import { createLineRoom, type LineRoom } from '../../src/server/budgets/line-room.js';
import { openRaw } from '../support/raw-client.js';
import { makeTempDir } from '../support/temp-dir.js';

const none = (): void => undefined;

test('short lines need no room, long ones share it, and the oldest may always grow', () => {
  const room = createLineRoom({ sharedBytesMax: 1_000, freeBytes: 100 });
  const [short, first, second] = [room.join(none), room.join(none), room.join(none)];
  expect(short.reserve(100)).toBe(true);
  expect(room.usedBytes()).toBe(0);
  expect(first.reserve(900)).toBe(true);
  expect(second.reserve(200)).toBe(false);
  expect(first.reserve(5_000)).toBe(true);
  expect(room.usedBytes()).toBe(5_000);
  expect(short.reserve(50)).toBe(true);
});

test('those that wait get room in order, as soon as there is any', () => {
  const room = createLineRoom({ sharedBytesMax: 1_000, freeBytes: 100 });
  const granted: string[] = [];
  const oldest = room.join(none);
  const long = room.join(() => granted.push('long'));
  const short = room.join(() => granted.push('short'));
  const later = room.join(() => granted.push('later'));
  expect(oldest.reserve(900)).toBe(true);
  expect(long.reserve(950)).toBe(false);
  expect(short.reserve(150)).toBe(false);
  expect(later.reserve(700)).toBe(false);
  oldest.release();
  // The long one is the oldest now; the others would have fitted before it and do not any more.
  expect(granted).toEqual(['long']);
  expect(room.usedBytes()).toBe(950);
  long.release();
  expect(granted).toEqual(['long', 'short', 'later']);
  short.release();
  later.release();
  expect(room.usedBytes()).toBe(0);
});

interface Peer {
  lines: DecodedLine[];
  given: string[];
}

/** Connections that write back how many lines they have read, in one budget. */
async function listenWith(room: LineRoom): Promise<AsyncDisposable & { path: string; peers: Peer[] }> {
  const dir = makeTempDir();
  const path = dir.file('s');
  const peers: Peer[] = [];
  const server = createServer({ allowHalfOpen: true }, (socket: Socket) => {
    const peer: Peer = { lines: [], given: [] };
    peers.push(peer);
    const connection = openConnection(
      socket,
      { lineRoom: room, fairQueue: createFairQueue() },
      {
        onLine(line) {
          peer.lines.push(line);
          connection.write(`${JSON.stringify({ id: 'read', type: line.kind, payload: {} })}\n`);
        },
        onUnfinished(why) {
          peer.given.push(why);
          connection.close(`${JSON.stringify({ id: 'cut', type: why, payload: {} })}\n`);
        },
        onDrain: none,
        onEnd: () => connection.close(),
        onClose: none,
      },
    );
  });
  server.listen(path);
  await once(server, 'listening');
  return {
    path,
    peers,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      await closed;
      dir[Symbol.dispose]();
    },
  };
}

const line = (bytes: number): string => JSON.stringify('x'.repeat(bytes - 2));

test('a line that is begun and not continued is given up', async () => {
  await using server = await listenWith(createLineRoom({ idleMs: 20 }));
  const client = await openRaw(server.path);
  client.send('{"whole":1}\n{"half"');
  expect(await client.next()).toMatchObject({ type: 'json' });
  expect(await client.next()).toMatchObject({ type: 'timeout' });
  await client.ended();
});

test('lines that find no room wait for it and are read whole when it is there', async () => {
  const room = createLineRoom({ sharedBytesMax: 200_000, freeBytes: 1_000, idleMs: 60_000 });
  await using server = await listenWith(room);
  const clients = await Promise.all(Array.from({ length: 8 }, () => openRaw(server.path)));
  for (const client of clients) client.send(line(700_000).slice(0, -1));
  // Somebody with whole lines is read meanwhile, however long they are.
  const other = await openRaw(server.path);
  for (let i = 0; i < 50; i++) other.send('{"short":1}\n');
  await other.until(() => other.lines.length === 50);
  expect(room.usedBytes()).toBeLessThan(200_000 + 700_000);
  for (const client of clients) client.send('"\n');
  for (const client of clients) expect(await client.next()).toMatchObject({ type: 'json' });
  expect(server.peers.flatMap(({ lines }) => lines).filter((read) => read.kind === 'json' && read.value !== null)).toHaveLength(58);
  expect(room.usedBytes()).toBe(0);
  for (const client of [...clients, other]) client.close();
});

test('a line for which there is no room in time is told so', async () => {
  const room = createLineRoom({ sharedBytesMax: 1_000, freeBytes: 1_000, idleMs: 20 });
  await using server = await listenWith(room);
  const oldest = room.join(none);
  oldest.reserve(100_000);
  const late = await openRaw(server.path);
  late.send(line(100_000).slice(0, -1));
  expect(await late.next()).toMatchObject({ type: 'overloaded' });
  await late.ended();
  oldest.release();
  expect(room.usedBytes()).toBe(0);
});

test('a peer that leaves gives its room back', async () => {
  const room = createLineRoom({ sharedBytesMax: 1_000, freeBytes: 1_000, idleMs: 60_000 });
  await using server = await listenWith(room);
  const first = await openRaw(server.path);
  first.send(line(100_000).slice(0, -1));
  while (room.usedBytes() < 99_000) await new Promise(setImmediate);
  const second = await openRaw(server.path);
  second.send(`${line(100_000)}\n`);
  first.close();
  expect(await second.next()).toMatchObject({ type: 'json' });
  expect(room.usedBytes()).toBe(0);
  second.close();
});
