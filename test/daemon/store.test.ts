import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
  copyFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadSqlite } from '../../src/store/sqlite.js';
import { runCommand } from '../cli/run-cli.js';
import { makeRoot, pathsIn, startDaemon, type TestDaemon } from '../support/daemon.js';
import { createRandom } from '../support/random.js';
import { seedHistory } from '../support/seed-store.js';
import { mountSmallDisk, noSmallDisk } from '../support/small-disk.js';
import { openTalk } from '../support/talk.js';

const Sqlite = loadSqlite();
const pageBytes = 4096;

function databaseOf(daemon: TestDaemon): string {
  return join(daemon.paths.stateDir, 'berth.db');
}

/** Overwrites a leaf of a table: the one that so much of the table comes before. The daemon must have stopped. */
function damage(path: string, table: string, fraction: number): void {
  const db = new Sqlite(path);
  const pages = db
    .prepare<[string], number>(`SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY path`)
    .pluck()
    .all(table);
  db.close();
  const fd = openSync(path, 'r+');
  writeSync(fd, createRandom(1).bytes(pageBytes), 0, pageBytes, ((pages[Math.floor(fraction * pages.length)] ?? 0) - 1) * pageBytes);
  closeSync(fd);
}

function asideOf(daemon: TestDaemon): string[] {
  return readdirSync(daemon.paths.stateDir).filter((name) => name.includes('.corrupt-') && !/-(wal|shm)$/.test(name));
}

function logOf(daemon: TestDaemon): string {
  return readFileSync(join(daemon.paths.stateDir, 'berth.log'), 'utf8');
}

describe('a damaged store', () => {
  test('is told of once by the start, in the log and by daemon status until it is put away, and its sessions work on', async () => {
    await using daemon = await startDaemon();
    const talk = await openTalk(daemon);
    expect(await talk.run('say kept')).toBe('completed');
    await daemon.terminate();
    seedHistory(daemon, talk.session, 300, 'long ago '.repeat(50));
    damage(databaseOf(daemon), 'entry', 0.5);
    await daemon.start();
    const salvaged = /salvaged 1 session, \d+ messages; \d+ could not be read/;
    expect(daemon.complaint()).toMatch(salvaged);
    expect(logOf(daemon)).toMatch(salvaged);
    const client = await daemon.raw();
    const answered = await client.call('prompt', { session_id: talk.session, text: 'say on', wait: true });
    expect(answered.payload).toMatchObject({ outcome: 'completed', output: 'on' });
    const [aside = ''] = asideOf(daemon);
    const status = await runCommand(daemon, ['daemon', 'status']);
    expect(status.stdout).toMatch(/store warning +the store was damaged and is kept as .*berth\.db\.corrupt-/);
    // No loop: the next start has nothing to do.
    await daemon.terminate();
    await daemon.start();
    expect(asideOf(daemon)).toEqual([aside]);
    rmSync(join(daemon.paths.stateDir, aside));
    expect((await runCommand(daemon, ['daemon', 'status'])).stdout).not.toContain('store warning');
  });

  test('that shows itself while the daemon works ends it, and the next start looks at all of it', async () => {
    await using daemon = await startDaemon();
    const talk = await openTalk(daemon);
    expect(await talk.run('say kept')).toBe('completed');
    await daemon.terminate();
    // Larger than what each start checks whole.
    seedHistory(daemon, talk.session, 9_000, 'what was said '.repeat(300));
    damage(databaseOf(daemon), 'entry', 0.5);
    await daemon.start();
    expect(asideOf(daemon)).toEqual([]);
    const pid = daemon.pid();
    const client = await daemon.raw();
    let before: string | undefined;
    const ended = daemon.exited();
    const reading = (async () => {
      for (;;) {
        const { payload } = await client.call('get_messages', { session_id: talk.session, limit: 500, ...(before ? { before } : {}) });
        const messages = payload.messages as { id: string }[];
        if (messages.length === 0) return 'everything';
        before = messages[0]?.id;
      }
    })().catch(() => 'cut off');
    expect(await Promise.race([ended, reading.then(() => ended)])).toBe(70);
    expect(logOf(daemon)).toContain('the store is damaged: the daemon ends');
    await daemon.start();
    expect(daemon.pid()).not.toBe(pid);
    expect(asideOf(daemon)).toHaveLength(1);
    expect(daemon.complaint()).toMatch(/salvaged 1 session, \d,\d+ messages/);
  });
});

describe('a backup', () => {
  test('is made while the daemon works, is whole, and can be restored', async () => {
    await using daemon = await startDaemon({ wps: 400 });
    const talk = await openTalk(daemon);
    expect(await talk.run('say first')).toBe('completed');
    const run = await talk.prompt('stream 200 words');
    await talk.until((event) => event.type === 'message_update');
    const file = join(daemon.root, 'copy.db');
    expect((await runCommand(daemon, ['daemon', 'backup', file])).stdout).toMatch(/copy\.db: \d+ KB/);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(daemon.root).filter((name) => name.startsWith('copy'))).toEqual(['copy.db']);
    const copy = new Sqlite(file, { readonly: true });
    expect(copy.pragma('integrity_check', { simple: true })).toBe('ok');
    copy.close();
    expect(await talk.ended(run)).toBe('completed');
    expect(await talk.run('say later')).toBe('completed');
    await daemon.terminate();
    // As docs/operations.md says.
    for (const end of ['-wal', '-shm']) rmSync(databaseOf(daemon) + end, { force: true });
    copyFileSync(file, databaseOf(daemon));
    await daemon.start();
    const again = await openTalk(daemon, talk.session);
    const texts = await again.texts();
    expect(texts.slice(0, 3)).toEqual(['say first', 'first', 'stream 200 words']);
    expect(texts).not.toContain('say later');
    expect(await again.run('say restored')).toBe('completed');
  });

  test('replaces no file unless told, and nothing of the daemon’s own', async () => {
    await using daemon = await startDaemon();
    await openTalk(daemon);
    const file = join(daemon.root, 'copy.db');
    writeFileSync(file, 'mine');
    const refused = await runCommand(daemon, ['daemon', 'backup', file]);
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toMatch(/copy\.db exists/);
    expect(readFileSync(file, 'utf8')).toBe('mine');
    expect((await runCommand(daemon, ['daemon', 'backup', '--force', file])).code).toBe(0);
    expect(readFileSync(file).toString('latin1', 0, 15)).toBe('SQLite format 3');
    mkdirSync(join(daemon.root, 'dir'));
    const client = await daemon.raw();
    for (const [path, why] of [
      [databaseOf(daemon), /state directory/],
      [join(daemon.paths.stateDir, 'copy.db'), /state directory/],
      [join(daemon.root, 'dir'), /not a file/],
      [join(daemon.root, 'none', 'copy.db'), /ENOENT/],
      ['copy.db', /absolute/],
    ] as const) {
      const reply = await client.call('back_up_store', { path, overwrite: true });
      expect(reply.error?.message).toMatch(why);
    }
  });
});

test('the sizes of the store are told', async () => {
  await using daemon = await startDaemon();
  const talk = await openTalk(daemon);
  expect(await talk.run('say x')).toBe('completed');
  const { store } = await talk.ok('get_daemon');
  expect(store).toMatchObject({ db_bytes: expect.any(Number), free_bytes: expect.any(Number), artifact_bytes: 0 });
  expect((store as { db_bytes: number }).db_bytes).toBe(statSync(databaseOf(daemon)).size);
  expect((await runCommand(daemon, ['daemon', 'status'])).stdout).toMatch(
    /store +database \S+ [KM]B, long outputs 0 bytes, log .* free on the disk/,
  );
});

describe.skipIf(noSmallDisk() !== undefined)('on a disk with hardly any room (needs mount)', () => {
  test('a start warns, and sessions are listed', async () => {
    const root = makeRoot();
    using disk = mountSmallDisk(pathsIn(root).stateDir, 16);
    await using daemon = await startDaemon({ root });
    expect(disk.path).toBe(daemon.paths.stateDir);
    const talk = await openTalk(daemon);
    expect(daemon.complaint()).toMatch(/only \d+ MB are free on the disk of .*free some space/);
    expect(logOf(daemon)).toMatch(/only \d+ MB are free/);
    expect((await talk.ok('list_sessions')).sessions).toHaveLength(1);
    expect((await runCommand(daemon, ['daemon', 'status'])).stdout).toMatch(/store warning +only \d+ MB are free/);
    await daemon.terminate();
  });
});
