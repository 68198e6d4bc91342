import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadSqlite } from '../../src/store/sqlite.js';
import { makeRoot, pathsIn, startDaemon } from '../support/daemon.js';
import { migrations } from '../support/engine.js';
import { processorMs } from '../support/processor-time.js';
import { seedHistory } from '../support/seed-store.js';
import { noSmallDisk } from '../support/small-disk.js';
import { openTalk } from '../support/talk.js';

const Sqlite = loadSqlite();

interface Root extends Disposable {
  root: string;
  stateDir: string;
}

function makeTestRoot(): Root {
  const root = makeRoot();
  return { root, stateDir: pathsIn(root).stateDir, [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }) };
}

function digest(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

describe('what the daemon makes', () => {
  test('is for its user alone, whatever the umask is', async () => {
    using made = makeTestRoot();
    const umask = process.umask(0);
    try {
      await using daemon = await startDaemon({ root: made.root });
      await openTalk(daemon);
      // The copy of the program is a directory.
      const isDirectory = (name: string): boolean => statSync(join(made.stateDir, name)).isDirectory();
      for (const name of readdirSync(made.stateDir).filter(isDirectory))
        expect(statSync(join(made.stateDir, name)).mode & 0o777).toBe(0o700);
      const files = readdirSync(made.stateDir).filter((name) => !isDirectory(name));
      const modes = files.map((name) => `${name} ${(statSync(join(made.stateDir, name)).mode & 0o777).toString(8)}`);
      expect(statSync(made.stateDir).mode & 0o777).toBe(0o700);
      expect(modes.filter((line) => !line.endsWith(' 600'))).toEqual([]);
      expect(modes.map((line) => line.split(' ')[0])).toEqual(
        expect.arrayContaining(['berth.db', 'berth.db-wal', 'berth.db-shm', 'berth.log', 'berth.lock']),
      );
    } finally {
      process.umask(umask);
    }
  });

  test('is found again by the next daemon: log_id, sessions and messages', async () => {
    await using daemon = await startDaemon();
    const talk = await openTalk(daemon);
    expect(await talk.run('say kept')).toBe('completed');
    const before = (await talk.commands.call('hello')).payload.log_id;
    await daemon.terminate();
    await daemon.start();
    const again = await openTalk(daemon, talk.session);
    expect((await again.commands.call('hello')).payload.log_id).toBe(before);
    expect(await again.texts()).toEqual(['say kept', 'kept']);
  });

  test('survives a kill at any moment of the very first start', async () => {
    using made = makeTestRoot();
    await using daemon = await startDaemon({ root: made.root });
    for (const pauseMs of [50, 80, 110, 150]) {
      await daemon.kill9();
      for (const name of readdirSync(made.stateDir)) rmSync(join(made.stateDir, name), { recursive: true });
      const first = spawnSync(process.execPath, [join(import.meta.dirname, '../../bin/berth.js'), 'daemon', 'run'], {
        env: daemon.env,
        timeout: pauseMs,
        killSignal: 'SIGKILL',
      });
      expect(first.signal).toBe('SIGKILL');
      await daemon.start();
    }
    const talk = await openTalk(daemon);
    expect(await talk.run('say whole')).toBe('completed');
  });
});

describe('a start is refused with a sentence and exit code 1, and nothing is touched', () => {
  async function refusal(root: string): Promise<string> {
    const started = await startDaemon({ root }).then(
      async (daemon) => {
        await daemon[Symbol.asyncDispose]();
        return 'it started';
      },
      (error: unknown) => (error as Error).message,
    );
    return started;
  }

  test('when berth.db is a text', async () => {
    using made = makeTestRoot();
    mkdirSync(made.stateDir, { mode: 0o700 });
    writeFileSync(join(made.stateDir, 'berth.db'), 'dear diary\n');
    expect(await refusal(made.root)).toMatch(/ended with 1: berth: .*berth\.db is not a berth store/);
    expect(readFileSync(join(made.stateDir, 'berth.db'), 'utf8')).toBe('dear diary\n');
    expect(readFileSync(join(made.stateDir, 'berth.log'), 'utf8')).toMatch(/berth\.db is not a berth store/);
    expect(existsSync(join(made.root, 's', 'b.sock'))).toBe(false);
  });

  test('when berth.db is a directory', async () => {
    using made = makeTestRoot();
    mkdirSync(join(made.stateDir, 'berth.db'), { recursive: true, mode: 0o700 });
    expect(await refusal(made.root)).toMatch(/ended with 1: berth: .*is not a file/);
  });

  test('when the store is of a newer berth: both versions are named', async () => {
    using made = makeTestRoot();
    {
      await using daemon = await startDaemon({ root: made.root });
      await openTalk(daemon);
    }
    const path = join(made.stateDir, 'berth.db');
    const newer = new Sqlite(path);
    newer.pragma('user_version = 4711');
    newer.close();
    const before = digest(path);
    expect(await refusal(made.root)).toMatch(new RegExp(`ended with 1: berth: .*4711.*\\b${migrations.length}\\b`));
    expect(digest(path)).toBe(before);
    expect(existsSync(`${path}-wal`)).toBe(false);
  });

  test('when the state directory is a file', async () => {
    using made = makeTestRoot();
    writeFileSync(made.stateDir, 'in the way');
    expect(await refusal(made.root)).toMatch(/ended with 1: berth: .*state/);
    expect(readFileSync(made.stateDir, 'utf8')).toBe('in the way');
  });

  test.skipIf(noSmallDisk() !== undefined)('when the state directory cannot be written (needs mount)', async () => {
    using made = makeTestRoot();
    mkdirSync(made.stateDir);
    expect(spawnSync('mount', ['-t', 'tmpfs', '-o', 'ro,size=1m', 'tmpfs', made.stateDir]).status).toBe(0);
    try {
      expect(await refusal(made.root)).toMatch(/ended with 1: berth: .*state/);
    } finally {
      spawnSync('umount', ['-l', made.stateDir]);
    }
  });

  test('an empty file is no reason to refuse', async () => {
    using made = makeTestRoot();
    mkdirSync(made.stateDir, { mode: 0o700 });
    writeFileSync(join(made.stateDir, 'berth.db'), '');
    expect(await refusal(made.root)).toBe('it started');
  });
});

test('a very long session is attached to at once, and its size is not held in memory', async () => {
  await using daemon = await startDaemon();
  const talk = await openTalk(daemon);
  expect(await talk.run('say first')).toBe('completed');
  await daemon.terminate();
  seedHistory(daemon, talk.session, 20_000, 'what people and models say to each other '.repeat(100));
  await daemon.start();
  const client = await daemon.raw();
  expect((await client.call('ping')).ok).toBe(true);
  const before = daemon.rssBytes();
  const workedMs = processorMs(daemon.pid());
  const attached = await client.call('attach', { session_id: talk.session });
  expect(processorMs(daemon.pid()) - workedMs).toBeLessThan(200);
  expect(attached.payload.has_more).toBe(true);
  let oldest = (attached.payload.messages as { id: string }[])[0]?.id;
  let seen = (attached.payload.messages as unknown[]).length;
  for (let page = 0; page < 20 && oldest !== undefined; page++) {
    const { payload } = await client.call('get_messages', { session_id: talk.session, before: oldest, limit: 100 });
    const messages = payload.messages as { id: string }[];
    seen += messages.length;
    oldest = messages[0]?.id;
  }
  expect(seen).toBe(2_100);
  expect(daemon.rssBytes() - before).toBeLessThan(64 * 1024 * 1024);
});
