import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { StoreDisplaced } from '../../src/store/faults.js';
import { loadSqlite } from '../../src/store/sqlite.js';
import { startDaemon, type TestDaemon } from '../support/daemon.js';
import { createTestEngine, inPlace } from '../support/engine.js';
import type { RawLine } from '../support/raw-client.js';
import { openTalk } from '../support/talk.js';

const Sqlite = loadSqlite();
const fileAt = (daemon: TestDaemon, name = 'berth.db'): string => join(daemon.paths.stateDir, name);
const digest = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex');

function makeForeign(path: string): void {
  const db = new Sqlite(path);
  db.exec('CREATE TABLE theirs (x)');
  db.close();
}

function expectSound(daemon: TestDaemon): void {
  const db = new Sqlite(fileAt(daemon), { readonly: true });
  expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
  expect(db.pragma('foreign_key_check')).toEqual([]);
  db.close();
}

/** The files that a rescue gave another name. */
function asides(daemon: TestDaemon): string[] {
  return readdirSync(daemon.paths.stateDir).filter((name) => /\.aside-\d+$/.test(name));
}

const displacements: [string, (daemon: TestDaemon) => void][] = [
  ['the database is removed', (daemon) => rmSync(fileAt(daemon))],
  ['the database is removed with its WAL', (daemon) => ['', '-wal', '-shm'].forEach((end) => rmSync(`${fileAt(daemon)}${end}`))],
  ['the database is moved', (daemon) => renameSync(fileAt(daemon), join(daemon.root, 'moved.db'))],
  ['the state directory is removed', (daemon) => rmSync(daemon.paths.stateDir, { recursive: true, maxRetries: 20, retryDelay: 10 })],
  ['the state directory is moved', (daemon) => renameSync(daemon.paths.stateDir, join(daemon.root, 'moved'))],
];

describe('when its files are displaced', () => {
  test.each(displacements)(
    '%s: the daemon says so, ends with 70, and the next goes on with all that was acknowledged',
    async (_, displace) => {
      await using daemon = await startDaemon({ wps: 20 });
      const talk = await openTalk(daemon);
      expect(await talk.run('say before')).toBe('completed');
      await talk.prompt('stream 500 words');
      const follow = (i: number): Promise<RawLine> =>
        talk.commands.call('follow_up', { session_id: talk.session, text: `text ${i}`, input_id: `in-${i}` });
      await follow(0);
      const late = Array.from({ length: 20 }, (_none, i) => follow(i + 1).catch(() => undefined));
      displace(daemon);
      const { code, complaint } = await daemon.ended();
      expect(code).toBe(70);
      expect(complaint).toMatch(/was removed, moved or replaced while the daemon ran.*saved again as .*berth\.db; start berth again/);
      await talk.commands.ended();
      const accepted = talk.commands.lines.filter(({ type, ok, payload }) => type === 'accepted' && ok && payload.command === 'follow_up');
      expect(accepted.length).toBeGreaterThan(0);
      await Promise.race([Promise.all(late), talk.commands.ended()]);
      await daemon.start();
      expect(readFileSync(fileAt(daemon, 'berth.log'), 'utf8')).toContain('saved again as');
      const again = await openTalk(daemon, talk.session);
      expect((await again.texts()).slice(0, 2)).toEqual(['say before', 'before']);
      const kept = [...(await again.messages()), ...(await again.state()).queue.inputs].map((item) => String(item.text));
      for (const { payload } of accepted) expect(kept).toContain(`text ${String(payload.input_id).slice(3)}`);
      expect(asides(daemon)).toEqual([]);
      await daemon.terminate();
      expectSound(daemon);
    },
  );

  test('a file that stands in the place of the database is kept as it is, under another name', async () => {
    await using daemon = await startDaemon();
    const talk = await openTalk(daemon);
    expect(await talk.run('say before')).toBe('completed');
    const foreign = join(daemon.root, 'foreign.db');
    makeForeign(foreign);
    const before = digest(foreign);
    renameSync(foreign, fileAt(daemon));
    const { code, complaint } = await daemon.ended();
    expect(code).toBe(70);
    const [aside = ''] = asides(daemon);
    expect(complaint).toContain(fileAt(daemon, aside));
    expect(digest(fileAt(daemon, aside))).toBe(before);
    await daemon.start();
    expect(await (await openTalk(daemon, talk.session)).texts()).toEqual(['say before', 'before']);
  });

  test('a lock that is removed ends the daemon before it acknowledges anything, and another that took its place has the store alone', async () => {
    await using first = await startDaemon();
    const talk = await openTalk(first);
    process.kill(first.pid(), 'SIGSTOP');
    rmSync(fileAt(first, 'berth.lock'));
    await using second = await startSecond(first);
    const other = await openTalk(second, talk.session);
    await other.ok('update_session', { title: 'of the second' });
    talk.commands.send({ id: 'late', type: 'update_session', payload: { session_id: talk.session, title: 'of the first' } });
    process.kill(first.pid(), 'SIGCONT');
    const { code, complaint } = await first.ended();
    expect(code).toBe(70);
    expect(complaint).toContain('berth.lock was removed or replaced');
    expect(talk.commands.lines.filter(({ id }) => id === 'late')).toEqual([]);
    expect(await other.state()).toMatchObject({ title: 'of the second' });
    expect(await other.run('say after')).toBe('completed');
  });

  test('what another daemon has made anew in the place of the state directory is left alone', async () => {
    await using first = await startDaemon();
    const talk = await openTalk(first);
    expect(await talk.run('say before')).toBe('completed');
    process.kill(first.pid(), 'SIGSTOP');
    rmSync(first.paths.stateDir, { recursive: true });
    await using second = await startSecond(first);
    const other = await openTalk(second);
    process.kill(first.pid(), 'SIGCONT');
    const { code, complaint } = await first.ended();
    expect(code).toBe(70);
    const [, rescued = ''] = /was saved as (\S+);/.exec(complaint) ?? [];
    expect(complaint).toContain('Another daemon runs there now');
    expect(await other.run('say mine')).toBe('completed');
    await second.terminate();
    renameSync(rescued, fileAt(second));
    await second.start();
    expect(await (await openTalk(second, talk.session)).texts()).toEqual(['say before', 'before']);
  });

  test('the WAL that a killed daemon left is not applied to a database that is made after it', async () => {
    await using daemon = await startDaemon();
    const talk = await openTalk(daemon);
    expect(await talk.run('say before')).toBe('completed');
    await daemon.kill9();
    rmSync(fileAt(daemon));
    await daemon.start();
    const fresh = await openTalk(daemon);
    expect((await fresh.commands.call('list_sessions')).payload.sessions).toHaveLength(1);
    await daemon.terminate();
    expectSound(daemon);
  });

  test('a rescue that was cut off before the copy had its place is completed by the next start', async () => {
    await using daemon = await startDaemon();
    const talk = await openTalk(daemon);
    expect(await talk.run('say before')).toBe('completed');
    await daemon.terminate();
    renameSync(fileAt(daemon), fileAt(daemon, 'berth.db.rescued'));
    writeFileSync(fileAt(daemon, 'berth.db-wal'), 'stale');
    await daemon.start();
    expect(await (await openTalk(daemon, talk.session)).texts()).toEqual(['say before', 'before']);
    expect(existsSync(fileAt(daemon, 'berth.db.rescued'))).toBe(false);
  });
});

/** Another daemon on the state directory of the first, with a socket of its own. */
async function startSecond(first: TestDaemon): Promise<TestDaemon> {
  const root = join(first.root, 'second');
  mkdirSync(root);
  const second = await startDaemon({ root, env: { BERTH_STATE_DIR: first.paths.stateDir } });
  return { ...second, paths: { ...second.paths, stateDir: first.paths.stateDir } };
}

describe('the door', () => {
  test('commits nothing once the lock is not held', async () => {
    let isHeld = true;
    await using berth = createTestEngine({ place: { ...inPlace, holdsLock: () => isHeld } });
    isHeld = false;
    expect(() => berth.engine.bookkeeping.maintain(() => undefined)).toThrow(StoreDisplaced);
    expect(() => berth.session()).toThrow(StoreDisplaced);
    expect(berth.store.db.prepare('SELECT count(*) FROM session').pluck().get()).toBe(0);
  });

  test('acknowledges nothing that was committed to a file without a name', async () => {
    let isNamed = true;
    await using berth = createTestEngine({ place: { ...inPlace, holdsDatabase: () => isNamed } });
    isNamed = false;
    expect(() => berth.session()).toThrow(StoreDisplaced);
    expect(berth.store.db.prepare('SELECT count(*) FROM session').pluck().get()).toBe(1);
  });
});
