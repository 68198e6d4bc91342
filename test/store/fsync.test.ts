import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadSqlite } from '../../src/store/sqlite.js';
import { missing } from '../needs.js';
import { startDaemon, type TestDaemon } from '../support/daemon.js';
import { openTalk } from '../support/talk.js';
import { trace } from '../support/tracing.js';

const Sqlite = loadSqlite();
/** A container may have strace and forbid it. */
const noTrace = missing('strace') || spawnSync('strace', ['-o', '/dev/null', 'true']).status !== 0;

function store(daemon: TestDaemon): string {
  return join(daemon.paths.stateDir, 'berth.db');
}

function expectSound(daemon: TestDaemon): void {
  const db = new Sqlite(store(daemon), { readonly: true });
  expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
  expect(db.pragma('foreign_key_check')).toEqual([]);
  db.close();
}

describe.skipIf(noTrace)('an fsync that fails (needs strace)', () => {
  test('is not acknowledged, ends the daemon with 70, and what was there before is there after a restart', async () => {
    await using daemon = await startDaemon();
    const talk = await openTalk(daemon);
    expect(await talk.run('say before')).toBe('completed');
    const tracing = await trace(daemon.pid(), ['-o', '/dev/null', '-e', 'trace=fsync', '-e', 'inject=fsync:error=EIO']);
    talk.commands.send({ id: 'lost', type: 'prompt', payload: { session_id: talk.session, text: 'say lost', wait: false } });
    await talk.commands.ended();
    await tracing.over;
    expect(await daemon.terminate()).toBe(70);
    expect(talk.commands.lines.filter(({ id, ok }) => id === 'lost' && ok)).toEqual([]);
    await daemon.start();
    const again = await openTalk(daemon, talk.session);
    expect((await again.texts()).slice(0, 2)).toEqual(['say before', 'before']);
    expect(await again.run('say after')).toBe('completed');
    expect(readFileSync(join(daemon.paths.stateDir, 'berth.log'), 'utf8')).toContain('fatal fault of the database');
    await daemon.terminate();
    expectSound(daemon);
  });

  test('of the database itself, when the log is moved into it, is not passed over either', async () => {
    await using daemon = await startDaemon();
    const talk = await openTalk(daemon);
    expect(await talk.run('say before')).toBe('completed');
    const tracing = await trace(daemon.pid(), [
      '-o',
      join(daemon.root, 'trace'),
      '-P',
      store(daemon),
      '-e',
      'trace=fsync',
      '-e',
      'inject=fsync:error=EIO',
    ]);
    const taken: string[] = [];
    // More than a thousand pages: SQLite checkpoints by itself.
    for (let i = 0; i < 200; i++) {
      const title = `${i} ${'x'.repeat(190)}`;
      const id = `t${i}`;
      talk.commands.send({ id, type: 'new_session', payload: { title } });
      const replied = talk.commands
        .until((line) => line.id === id)
        .then(
          (line) => line.ok === true,
          () => false,
        );
      if (!(await replied)) break;
      taken.push(title);
    }
    if (taken.length === 200) await tracing.stop();
    expect(readFileSync(join(daemon.root, 'trace'), 'utf8')).toContain('INJECTED');
    expect(await daemon.terminate()).toBe(70);
    await daemon.start();
    const again = await daemon.raw();
    const seen: string[] = [];
    for (let cursor: unknown = null; ;) {
      const { payload } = await again.call('list_sessions', { limit: 100, ...(cursor === null ? {} : { cursor }) });
      seen.push(...(payload.sessions as { title: string }[]).map(({ title }) => title));
      cursor = payload.cursor;
      if (cursor === null) break;
    }
    for (const title of taken) expect(seen).toContain(title);
    await daemon.terminate();
    expectSound(daemon);
  });
});

describe.skipIf(noTrace)('what is acknowledged (needs strace)', () => {
  test('was synced before its reply was written, a hundred times of a hundred', async () => {
    await using daemon = await startDaemon();
    const talk = await openTalk(daemon);
    const file = join(daemon.root, 'trace');
    const calls = 'trace=fsync,fdatasync,pwrite64,write,writev,sendmsg,sendto';
    const tracing = await trace(daemon.pid(), ['-o', file, '-y', '-s', '120', '-e', calls]);
    for (let i = 0; i < 100; i++) await talk.ok('update_session', { title: `title ${i}` });
    await tracing.stop();
    expect(existsSync(file)).toBe(true);
    let replies = 0;
    let synced = false;
    for (const line of readFileSync(file, 'utf8').split('\n')) {
      if (/pwrite64\(\d+<[^>]*-wal>/.test(line)) synced = false;
      if (/(fsync|fdatasync)\(\d+<[^>]*-wal>\) = 0/.test(line)) synced = true;
      if (!/(write|writev|sendmsg|sendto)\(\d+<(socket|UNIX)/.test(line) || !line.includes('\\"type\\":\\"accepted\\"')) continue;
      expect(synced).toBe(true);
      replies++;
      synced = false;
    }
    expect(replies).toBe(100);
  });
});
