import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { createClients } from '../../src/server/clients.js';
import { createCommandServer } from '../../src/server/command-server.js';
import type { Handlers } from '../../src/server/handler.js';
import { createFairQueue } from '../../src/server/budgets/fair-queue.js';
import { createLineRoom } from '../../src/server/budgets/line-room.js';
import { createUnreadReplies, type UnreadReplies } from '../../src/server/budgets/unread-replies.js';
import { openRaw, type RawClient } from '../support/raw-client.js';
import { makeTempDir } from '../support/temp-dir.js';

const longReply = 'x'.repeat(1_000_000);

/** A command server whose get_state is answered with a megabyte, and whose new_session with a word. */
async function listenWith(unreadReplies: UnreadReplies): Promise<AsyncDisposable & { path: string; built(): number; made: string[] }> {
  const dir = makeTempDir();
  const path = dir.file('s');
  let built = 0;
  const made: string[] = [];
  const handlers = {
    ping: () => ({ ok: true, type: 'pong', payload: {} }),
    get_state: () => {
      built++;
      return { ok: true, type: 'state', payload: { text: longReply } };
    },
    new_session: ({ title }: { title: string }) => {
      made.push(title);
      return { ok: true, type: 'accepted', payload: {} };
    },
  } as unknown as Handlers;
  let clientCount = 0;
  const commandServer = createCommandServer({
    handlers,
    clients: createClients({ onChange: () => undefined }),
    newClientId: () => `cli_${++clientCount}`,
    seq: () => 1,
    prepareFor: () => undefined,
    onBug(error) {
      throw error;
    },
    lineRoom: createLineRoom(),
    fairQueue: createFairQueue(),
    unreadReplies,
  });
  const server = createServer({ allowHalfOpen: true }, (socket: Socket) => commandServer.accept(socket));
  server.listen(path);
  await once(server, 'listening');
  return {
    path,
    built: () => built,
    made,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      commandServer.close();
      await closed;
      dir[Symbol.dispose]();
    },
  };
}

/** Asks for a long reply and reads nothing. */
async function openDeaf(path: string): Promise<RawClient> {
  const client = await openRaw(path);
  client.socket.pause();
  client.send({ id: 'long', type: 'get_state' });
  return client;
}

async function pingFor(client: RawClient, rounds: number): Promise<void> {
  for (let i = 0; i < rounds; i++) await client.call('ping');
}

/** Reads a piece, lets others have their turn, and reads the next. */
function readSlowly(client: RawClient, other: RawClient): void {
  client.socket.on('data', () => {
    client.socket.pause();
    other.call('ping').then(
      () => client.socket.resume(),
      () => undefined,
    );
  });
  client.socket.resume();
}

test('long replies are built only while there is room, and what changes something is done and acknowledged meanwhile', async () => {
  const replies = createUnreadReplies({ sharedBytesMax: 3_000_000, stalledMs: 60_000 });
  await using server = await listenWith(replies);
  const deaf: RawClient[] = [];
  for (let i = 0; i < 20; i++) deaf.push(await openDeaf(server.path));
  const other = await openRaw(server.path);
  await pingFor(other, 50);
  expect(server.built()).toBeLessThanOrEqual(5);
  expect(replies.unreadBytes()).toBeLessThan(3_000_000 + longReply.length + 100);
  for (let i = 0; i < 10; i++) expect(await other.call('new_session', { title: `t${i}` })).toMatchObject({ type: 'accepted', ok: true });
  expect(server.made).toHaveLength(10);

  for (const client of deaf) client.socket.resume();
  for (const client of deaf) expect((await client.until(({ id }) => id === 'long')).payload).toEqual({ text: longReply });
  expect(server.built()).toBe(20);
  await pingFor(other, 5);
  expect(replies.unreadBytes()).toBe(0);
  for (const client of [...deaf, other]) client.close();
});

test('while others wait, peers that read nothing are dropped; those that read get every reply in order', async () => {
  const dropped: number[] = [];
  const onDropped = ({ unreadBytes }: { unreadBytes: number }): void => void dropped.push(unreadBytes);
  const replies = createUnreadReplies({ sharedBytesMax: 3_000_000, stalledMs: 200, onDropped });
  await using server = await listenWith(replies);
  const deaf = await Promise.all(Array.from({ length: 10 }, () => openDeaf(server.path)));
  const reader = await openRaw(server.path);
  const asked = Array.from({ length: 12 }, (_, i) => ({ id: `a${i}`, type: ['get_state', 'ping', 'new_session'][i % 3] }));
  for (const command of asked) reader.send({ ...command, payload: {} });
  await reader.until(() => reader.lines.length === asked.length);
  expect(reader.lines.map(({ id }) => id)).toEqual(asked.map(({ id }) => id));
  expect(reader.lines.every(({ ok }) => ok)).toBe(true);
  expect(dropped.length).toBeGreaterThan(3);
  expect(reader.socket.destroyed).toBe(false);
  for (const client of [...deaf, reader]) client.close();
});

test('a peer that reads slowly is not dropped, while deaf ones are', async () => {
  let dropped = 0;
  const replies = createUnreadReplies({ sharedBytesMax: 3_000_000, stalledMs: 500, onDropped: () => dropped++ });
  await using server = await listenWith(replies);
  const other = await openRaw(server.path);
  const slow = await openDeaf(server.path);
  readSlowly(slow, other);
  const deaf = await Promise.all(Array.from({ length: 10 }, () => openDeaf(server.path)));
  for (let i = 0; i < 3; i++) {
    expect((await slow.until(({ id }) => id === 'long')).payload).toEqual({ text: longReply });
    slow.lines.length = 0;
    slow.send({ id: 'long', type: 'get_state' });
  }
  await slow.until(({ id }) => id === 'long');
  expect(dropped).toBeGreaterThan(3);
  for (const client of [...deaf, slow, other]) client.close();
});

test('somebody new who reads does not wait for all the deaf ones that came before', async () => {
  const replies = createUnreadReplies({ sharedBytesMax: 3_000_000, stalledMs: 200 });
  await using server = await listenWith(replies);
  const deaf: RawClient[] = [];
  for (let i = 0; i < 60; i++) deaf.push(await openDeaf(server.path));
  const other = await openRaw(server.path);
  await pingFor(other, 20);
  const builtBefore = server.built();
  const reader = await openRaw(server.path);
  for (let i = 0; i < 5; i++) expect((await reader.call('get_state')).payload).toEqual({ text: longReply });
  expect(server.built() - builtBefore).toBeLessThan(30);
  for (const client of [...deaf, other, reader]) client.close();
});

test('nobody is dropped while nobody waits for room, and a peer that leaves gives its room back', async () => {
  let dropped = 0;
  const replies = createUnreadReplies({ sharedBytesMax: 3_000_000, stalledMs: 10, onDropped: () => dropped++ });
  await using server = await listenWith(replies);
  const other = await openRaw(server.path);
  const deaf = await openDeaf(server.path);
  const leaving = await openDeaf(server.path);
  const until = performance.now() + 50;
  while (server.built() < 2 || performance.now() < until) await other.call('ping');
  expect(dropped).toBe(0);
  leaving.close();
  deaf.socket.resume();
  expect((await deaf.until(({ id }) => id === 'long')).payload).toEqual({ text: longReply });
  while (replies.unreadBytes() > 0) await other.call('ping');
  for (const client of [deaf, other]) client.close();
});

test('a peer that half-closes still gets the long reply it waits for', async () => {
  const replies = createUnreadReplies({ sharedBytesMax: 1, stalledMs: 200 });
  await using server = await listenWith(replies);
  const deaf = await openDeaf(server.path);
  const last = await openRaw(server.path);
  last.socket.end(`${JSON.stringify({ id: 'long', type: 'get_state' })}\n`);
  expect((await last.until(({ id }) => id === 'long')).payload).toEqual({ text: longReply });
  await last.ended();
  deaf.close();
});
