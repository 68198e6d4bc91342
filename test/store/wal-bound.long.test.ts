import { statSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { limits } from '../../src/protocol/limits.js';
import { loadSqlite } from '../../src/store/sqlite.js';
import { startDaemon, type TestDaemon } from '../support/daemon.js';
import { sized } from '../support/fault-sizes.js';
import { seedHistory } from '../support/seed-store.js';
import { openTalk, type Talk } from '../support/talk.js';

const Sqlite = loadSqlite();
const writes = sized({ short: 2_000, long: 10_000, full: 100_000 });
const timeout = sized({ short: 60_000, long: 300_000, full: 1_800_000 });

function walBytes(daemon: TestDaemon): number {
  return statSync(join(daemon.paths.stateDir, 'berth.db-wal')).size;
}

/** Commits so often; returns the longest that the WAL was. */
async function write(daemon: TestDaemon, talk: Talk, times: number, text = 'draft '.repeat(100)): Promise<number> {
  let longest = 0;
  for (let done = 0; done < times; done += 100) {
    await Promise.all(
      Array.from({ length: 100 }, (_, i) => talk.ok('set_draft', { draft_id: `dra_${i % 5}`, text: `${done + i} ${text}` })),
    );
    longest = Math.max(longest, walBytes(daemon));
  }
  return longest;
}

/** A client that asks for all of a long history, and reads nothing of it. */
async function openStuck(daemon: TestDaemon, session: string): Promise<Socket> {
  const socket = connect(daemon.paths.socket);
  await once(socket, 'connect');
  socket.pause();
  for (let i = 0; i < 50; i++) {
    socket.write(`${JSON.stringify({ id: `${i}`, type: 'get_messages', payload: { session_id: session, limit: 500 } })}\n`);
  }
  const events = connect(`${daemon.paths.socket}.events`);
  await once(events, 'connect');
  events.pause();
  events.write(`${JSON.stringify({ id: 'sub', type: 'subscribe', payload: { session_id: session, after: 0 } })}\n`);
  socket.on('close', () => events.destroy());
  return socket;
}

test('a client that stops in the middle of a long history keeps the WAL no longer than it is without', { timeout }, async () => {
  await using daemon = await startDaemon();
  const talk = await openTalk(daemon);
  expect(await talk.run('say x')).toBe('completed');
  await daemon.terminate();
  seedHistory(daemon, talk.session, 10_000, 'long ago '.repeat(200));
  await daemon.start();
  const again = await openTalk(daemon, talk.session);
  const stuck = await openStuck(daemon, talk.session);
  // What a WAL has grown by until its length is looked at again comes on top.
  const bound = 2 * limits.walFileBytesMax;
  expect(await write(daemon, again, writes)).toBeLessThan(bound);
  stuck.destroy();
  expect(await write(daemon, again, 200)).toBeLessThan(bound);
});

test('another program that reads the store for long is named, and when it is gone the WAL is cut', { timeout }, async () => {
  await using daemon = await startDaemon();
  const talk = await openTalk(daemon);
  const reader = new Sqlite(join(daemon.paths.stateDir, 'berth.db'), { readonly: true });
  reader.exec('BEGIN');
  reader.prepare('SELECT count(*) FROM event').get();
  const status = async (): Promise<{ wal_bytes: number; warnings: string[] }> =>
    (await talk.ok('get_daemon')).store as { wal_bytes: number; warnings: string[] };
  while ((await status()).wal_bytes <= limits.walWarnBytesMax) await write(daemon, talk, 100, 'long '.repeat(3_000));
  expect((await status()).warnings).toEqual([expect.stringMatching(/berth\.db-wal has grown to \d+ MB.*another program/)]);
  reader.close();
  await write(daemon, talk, 200);
  expect(await status()).toMatchObject({ warnings: [] });
  expect(walBytes(daemon)).toBeLessThan(2 * limits.walFileBytesMax);
});
