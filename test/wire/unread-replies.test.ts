import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { RawClient } from '../support/raw-client.js';
import { startDaemon } from '../support/daemon.js';
import { complaints, done, newSession, say } from '../support/wire.js';

const deafCount = 100;
/** The unread replies themselves, and what the garbage collector leaves of those that were dropped. */
const growthMax = 128 * 1024 * 1024;

test(`${deafCount} clients that ask for 2.5 MB each and never read cost little, and others are served`, { timeout: 120_000 }, async () => {
  await using daemon = await startDaemon();
  const client = await daemon.raw();
  const sessionId = await newSession(client);
  for (let i = 0; i < 6; i++) await say(client, sessionId, `hm ${'y'.repeat(430_000)}`);
  const ask = { id: 'long', type: 'get_messages', payload: { session_id: sessionId, limit: 500 } };
  const askInFull = async (from: RawClient): Promise<number> => {
    const page = done(await from.call(ask.type, ask.payload));
    return JSON.stringify(page.messages).length;
  };
  // What one who reads costs, once the heap has found its size.
  for (let i = 0; i < 10; i++) expect(await askInFull(client)).toBeGreaterThan(2_500_000);
  const before = daemon.rssBytes();

  const deaf: RawClient[] = [];
  let peak = 0;
  for (let i = 0; i < deafCount; i++) {
    const one = await daemon.raw();
    one.socket.pause();
    one.send(ask);
    deaf.push(one);
    if (i % 10 === 9) {
      done(await client.call('update_session', { session_id: sessionId, title: `title ${i}` }));
      peak = Math.max(peak, daemon.rssBytes());
    }
  }
  for (let i = 0; i < 5; i++) {
    expect(await askInFull(client)).toBeGreaterThan(2_500_000);
    peak = Math.max(peak, daemon.rssBytes());
  }
  await say(client, sessionId, 'say something');
  peak = Math.max(peak, daemon.rssBytes());
  expect(peak - before).toBeLessThan(growthMax);
  const log = readFileSync(join(daemon.paths.stateDir, 'berth.log'), 'utf8');
  expect(log).toContain('disconnected a client that did not read its replies');
  expect(complaints(daemon)).toEqual([]);
});
