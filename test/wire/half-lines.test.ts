import { once } from 'node:events';
import { createConnection, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { startDaemon } from '../support/daemon.js';
import { complaints, done, newSession, say } from '../support/wire.js';

const peers = 500;
/** Nearly the longest line, without its end. */
const halfLine = Buffer.alloc(4_000 * 1024, 'x');
const growthMax = 64 * 1024 * 1024;

test(`${peers} peers that begin a line of 4,000 KiB and never end it cost little, and others are served`, async () => {
  await using daemon = await startDaemon();
  const client = await daemon.raw();
  const sessionId = await newSession(client);
  await say(client, sessionId, 'say before');
  const before = daemon.rssBytes();
  const sockets: Socket[] = [];
  for (let i = 0; i < peers; i++) {
    const socket = createConnection(i % 2 === 0 ? daemon.paths.socket : `${daemon.paths.socket}.events`);
    await once(socket, 'connect');
    socket.on('error', () => socket.destroy());
    socket.write(halfLine);
    sockets.push(socket);
  }
  let peak = 0;
  for (let i = 0; i < 100; i++) {
    done(await client.call('get_state', { session_id: sessionId }));
    peak = Math.max(peak, daemon.rssBytes());
  }
  await say(client, sessionId, 'say during');
  // A newcomer is served too, also when its command comes in two pieces.
  const late = await daemon.raw();
  late.send('{"id":"late","type":"pi');
  done(await client.call('ping'));
  late.send('ng"}\n');
  done(await late.until(({ id }) => id === 'late'));
  peak = Math.max(peak, daemon.rssBytes());
  expect(peak - before).toBeLessThan(growthMax);
  for (const socket of sockets) socket.destroy();
  // What they held is free again: a line of that length is read.
  const text = `say ${'y'.repeat(4_000 * 1000)}`;
  const { error } = await client.call('prompt', { session_id: sessionId, text, wait: false });
  expect(error).toBeUndefined();
  expect(complaints(daemon)).toEqual([]);
});
