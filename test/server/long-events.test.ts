import { once } from 'node:events';
import { createConnection } from 'node:net';
import { expect, test } from 'vitest';
import { startDaemon } from '../support/daemon.js';
import type { RawClient, RawLine } from '../support/raw-client.js';
import { complaints, done, durable, isEvent, newSession, say } from '../support/wire.js';

const long = (mark: string): string => `hm ${mark} ${'é"x'.repeat(100_000)}`;

/** Subscribes and reads nothing until it is told to. */
async function openDeaf(daemon: { rawEvents(): Promise<RawClient> }, payload: object): Promise<RawClient> {
  const client = await daemon.rawEvents();
  client.socket.pause();
  client.send({ id: 'sub', type: 'subscribe', payload });
  return client;
}

/** What it was told since it subscribed: one that said nothing for a moment, because it was busy, is told of all sessions before. */
function toldTo(client: RawClient): RawLine[] {
  return durable(client.lines.slice(client.lines.findIndex(({ id }) => id === 'sub') + 1));
}

async function pings(client: RawClient, rounds: number): Promise<void> {
  for (let i = 0; i < rounds; i++) done(await client.call('ping'));
}

test('clients that stop in the middle of long events cost little each, and read on where they stopped', { timeout: 60_000 }, async () => {
  await using daemon = await startDaemon();
  const client = await daemon.raw();
  const sessionId = await newSession(client);
  const starts: number[] = [];
  for (let i = 0; i < 24; i++) {
    starts.push((await client.call('ping')).seq!);
    await say(client, sessionId, long(`${i}`));
  }
  const last = (await client.call('ping')).seq!;
  const fast = await openDeaf(daemon, { session_id: sessionId, after: starts[20] });
  fast.socket.resume();
  await fast.until(({ id }) => id === 'sub');
  await fast.until(({ seq, ok }) => ok === undefined && seq === last);
  const told = toldTo(fast);
  const before = daemon.rssBytes();
  // Each waits at a line of its own, or at one that some others are at.
  const deaf: RawClient[] = [];
  for (let i = 0; i < 144; i++) deaf.push(await openDeaf(daemon, { session_id: sessionId, after: starts[i % 24] }));
  await pings(client, 100);
  expect(daemon.rssBytes() - before).toBeLessThan(64 * 1024 * 1024);
  for (const [i, one] of deaf.entries()) {
    const after = starts[i % 24]!;
    if (i % 24 >= 20 && i > 100) {
      one.socket.resume();
      await one.until(({ id }) => id === 'sub');
      await one.until(({ seq, ok }) => ok === undefined && seq === last);
      expect(toldTo(one)).toEqual(told.filter(({ seq }) => (seq ?? 0) > after));
    }
    one.close();
  }
  fast.close();
  expect(complaints(daemon)).toEqual([]);
});

test('a goodbye comes after the line that was begun', async () => {
  await using daemon = await startDaemon();
  const client = await daemon.raw();
  const sessionId = await newSession(client);
  const events = await openDeaf(daemon, { session_id: sessionId, after: 0 });
  await say(client, sessionId, long('a'));
  await pings(client, 20);
  const stopped = daemon.terminate();
  events.socket.resume();
  await events.ended();
  await stopped;
  expect(events.lines.find(isEvent('message_end', { role: 'user' }))).toBeDefined();
  expect(events.lines.at(-1)).toMatchObject({ type: 'goodbye' });
});

test('when the rest of a line is deleted, the connection ends instead of mixing lines', async () => {
  await using daemon = await startDaemon();
  const client = await daemon.raw();
  const sessionId = await newSession(client);
  const socket = createConnection(`${daemon.paths.socket}.events`);
  await once(socket, 'connect');
  socket.pause();
  socket.write(`${JSON.stringify({ id: 'sub', type: 'subscribe', payload: { session_id: '*', after: 0 } })}\n`);
  await say(client, sessionId, long('a'));
  await pings(client, 20);
  done(await client.call('delete_session', { session_id: sessionId }));
  const other = await newSession(client);
  await say(client, other, 'say hello');
  let text = '';
  const whole = (): RawLine[] =>
    text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as RawLine);
  await new Promise<void>((resolve) => {
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      if (text.endsWith('\n') && whole().some(isEvent('agent_end', { session_id: other }))) resolve();
    });
    socket.on('close', () => resolve());
    socket.resume();
  });
  expect(whole().length).toBeGreaterThan(1);
  // Coming back at the cursor, all that is left is told.
  const after = whole().findLast(({ seq, ok }) => ok === undefined && seq !== undefined)?.seq ?? 0;
  const back = await openDeaf(daemon, { session_id: '*', after: Math.min(after, 1) });
  back.socket.resume();
  await back.until(isEvent('agent_end', { session_id: other }));
  socket.destroy();
  back.close();
});
