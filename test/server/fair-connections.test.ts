import { once } from 'node:events';
import { createConnection, createServer, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createFairQueue, type Worker } from '../../src/server/budgets/fair-queue.js';
import { createLineRoom } from '../../src/server/budgets/line-room.js';
import { createUnreadReplies } from '../../src/server/budgets/unread-replies.js';
import { createClients } from '../../src/server/clients.js';
import { createCommandServer } from '../../src/server/command-server.js';
import type { Handlers } from '../../src/server/handler.js';
import { openRaw } from '../support/raw-client.js';
import { makeTempDir } from '../support/temp-dir.js';

const peers = 60;
const each = 1_200;

function burn(untilMs: number): void {
  while (performance.now() < untilMs) continue;
}

test('a newcomer is answered while many that pipeline and read nothing are still served', async () => {
  using dir = makeTempDir();
  let handled = 0;
  let handledBefore: number | undefined;
  const handlers = {
    ping() {
      handled++;
      burn(performance.now() + 0.05);
      return { ok: true, type: 'pong', payload: {} };
    },
    hello() {
      handledBefore = handled;
      return { ok: true, type: 'hello', payload: {} };
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
    unreadReplies: createUnreadReplies(),
  });
  const waiting: Socket[] = [];
  let isOpen = false;
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) => {
    if (isOpen) commandServer.accept(socket.resume());
    else waiting.push(socket);
  });
  server.listen(dir.file('s'));
  await once(server, 'listening');
  const lines = '{"v":"1","id":"x","type":"ping","payload":{}}\n'.repeat(each);
  const flooders = Array.from({ length: peers }, () => createConnection(dir.file('s')));
  for (const flooder of flooders) {
    flooder.on('error', () => undefined).pause();
    await new Promise((resolve) => flooder.write(lines, resolve));
  }
  while (waiting.length < peers) await nextTurn();
  isOpen = true;
  for (const socket of waiting) commandServer.accept(socket.resume());
  const newcomer = await openRaw(dir.file('s'));
  await newcomer.call('hello');
  expect(handledBefore).toBeLessThan((peers * each) / 8);
  newcomer.close();
  for (const flooder of flooders) flooder.destroy();
  const closed = once(server, 'close');
  server.close();
  commandServer.close();
  await closed;
});

test('who comes anew and who has more to do take turns, and nobody is left out', async () => {
  const queue = createFairQueue();
  const served: string[] = [];
  const makeWorker =
    (name: string, slices: number): Worker =>
    (untilMs) => {
      served.push(name);
      burn(untilMs);
      return --slices > 0;
    };
  const busy = ['a', 'b', 'c'].map((name) => makeWorker(name, 20));
  for (const worker of busy) queue.later(worker);
  while (!['a', 'b', 'c'].every((name) => served.includes(name))) await nextTurn();
  const before = served.length;
  queue.later(makeWorker('new', 1));
  while (!served.includes('new')) await nextTurn();
  expect(served.indexOf('new') - before).toBeLessThan(2);
  while (served.length < 61) await nextTurn();
  for (const name of ['a', 'b', 'c']) expect(served.filter((one) => one === name)).toHaveLength(20);
});

test('what is removed is not served', async () => {
  const queue = createFairQueue();
  let isServed = false;
  const worker: Worker = () => (isServed = true);
  queue.later(worker);
  queue.remove(worker);
  await nextTurn();
  expect(isServed).toBe(false);
});
