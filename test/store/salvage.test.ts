import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { describe, expect, test } from 'vitest';
import { openOrCreate } from '../../src/store/create.js';
import { requestFullCheck } from '../../src/store/damage/replace-damaged.js';
import { loadSqlite, type Database } from '../../src/store/sqlite.js';
import { migrations } from '../support/engine.js';
import { createRandom } from '../support/random.js';
import { makeTempDir } from '../support/temp-dir.js';

const Sqlite = loadSqlite();
const pageBytes = 4096;

/** A store with sessions of many messages, one of them with a queue, and rules. */
function seed(path: string, { sessions = 5, messages = 60 } = {}): void {
  const db = openOrCreate(path, migrations);
  db.transaction(() => {
    db.exec(`INSERT INTO meta VALUES ('log_id', 'log_old')`);
    for (let s = 1; s <= sessions; s++) {
      db.prepare(
        `INSERT INTO session (id, title, cwd, model, thinking, steering_mode, follow_up_mode, approval_mode, when_detached, recovery,
           created_ms, updated_ms) VALUES (?, ?, '/src', 'a/b', 'off', 'all', 'all', 'ask', 'wait', 'pause', 0, ?)`,
      ).run(`ses_${s}`, `title ${s}`, s);
      db.prepare(`INSERT INTO run (id, session_id, boot_id, attempts, started_seq, started_ms, ended_seq, ended_ms, outcome)
        VALUES (?, ?, 'boot', 0, ?, 0, ?, 0, 'completed')`).run(`run_${s}`, `ses_${s}`, s * 10, s * 10 + 1); // prettier-ignore
      db.prepare('INSERT INTO anchor VALUES (?, ?, 1, 1)').run(`ses_${s}`, `/src/${s}`);
      for (let m = 1; m <= messages; m++) {
        const id = `msg_${s}_${m}`;
        db.prepare(
          `INSERT INTO entry (id, session_id, parent_id, role, run_id, turn_kind, content, text, bytes, at_ms)
           VALUES (?, ?, ?, ?, ?, 'prompt', ?, ?, 0, ?)`,
        ).run(
          id,
          `ses_${s}`,
          m === 1 ? null : `msg_${s}_${m - 1}`,
          m % 2 ? 'user' : 'assistant',
          `run_${s}`,
          m % 5 ? null : JSON.stringify([{ type: 'text', text: id }]),
          `${id} ${'word '.repeat(100)}`,
          m,
        );
        db.prepare(`INSERT INTO event (seq, session_id, type, version, payload, at_ms) VALUES (?, ?, 'status', 1, '{}', 0)`).run(
          s * 1000 + m,
          `ses_${s}`,
        );
      }
      db.prepare('UPDATE session SET leaf_id = ?, message_count = ?, path_count = ? WHERE id = ?').run(
        `msg_${s}_${messages}`,
        messages,
        messages,
        `ses_${s}`,
      );
      db.prepare(
        `INSERT INTO input (id, session_id, command, kind, state, position, bytes, ack_run_id, ack_seq, at_ms, first_text)
         VALUES (?, ?, 'follow_up', 'follow_up', 'waiting', 0, 3, ?, ?, 0, 'and then')`,
      ).run(`inp_${s}`, `ses_${s}`, `run_${s}`, s * 10);
      db.prepare(`INSERT INTO permission (session_id, rule, said_by, at_ms) VALUES (?, '{"tool":"bash","action":"allow"}', 'p', 0)`).run(
        `ses_${s}`,
      );
    }
  })();
  db.close();
}

function overwrite(path: string, page: number, bytes: Uint8Array): void {
  const fd = openSync(path, 'r+');
  writeSync(fd, bytes, 0, bytes.length, (page - 1) * pageBytes);
  closeSync(fd);
}

function randomBytes(seedNumber: number, length = pageBytes): Buffer {
  return createRandom(seedNumber).bytes(length);
}

/** The page at which a table or an index begins, or one of its leaves. */
function pagesOf(path: string, name: string): { root: number; leaves: number[] } {
  const db = new Sqlite(path, { readonly: true });
  const root = db.prepare<[string], number>('SELECT rootpage FROM sqlite_schema WHERE name = ?').pluck().get(name) ?? 0;
  const leaves = db
    .prepare<[string], number>(`SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY path`)
    .pluck()
    .all(name);
  db.close();
  return { root, leaves };
}

interface Opened {
  db: Database;
  told: string[];
}

function open(path: string): Opened & Disposable {
  const told: string[] = [];
  const db = openOrCreate(path, migrations, (sentence) => told.push(sentence));
  return { db, told, [Symbol.dispose]: () => void db.close() };
}

function count(db: Database, table: string): number {
  return db.prepare<[], number>(`SELECT count(*) FROM ${table}`).pluck().get() ?? 0;
}

function expectSound(db: Database): void {
  expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
  expect(db.pragma('foreign_key_check')).toEqual([]);
}

function corruptFiles(dir: string): string[] {
  return readdirSync(dir).filter((name) => name.includes('.corrupt-'));
}

describe('a damaged store', () => {
  test('is moved aside byte for byte, and all that can be read stands in a new one, which says so', () => {
    using dir = makeTempDir();
    const path = dir.file('berth.db');
    seed(path);
    const { leaves } = pagesOf(path, 'entry');
    overwrite(path, leaves[3] ?? 0, randomBytes(1));
    const damaged = readFileSync(path);
    using opened = open(path);
    const { db, told } = opened;
    const aside = corruptFiles(dir.path);
    expect(readFileSync(dir.file(aside.find((name) => !/-(wal|shm)$/.test(name)) ?? ''))).toEqual(damaged);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expectSound(db);
    expect(count(db, 'session')).toBe(5);
    const lost = 300 - count(db, 'entry');
    expect(lost).toBeGreaterThan(0);
    expect(lost).toBeLessThan(20);
    expect(told.at(-1)).toMatch(/berth\.db\.corrupt-\d{8}T\d{6}Z; salvaged 5 sessions, 2\d\d messages; \d+ could not be read$/);
    expect(told.at(-1)).toContain(`${lost} could not be read`);
    expect(count(db, 'input')).toBe(5);
    expect(count(db, 'permission')).toBe(5);
    // The path of a session leads around what is lost.
    const paths = db.prepare<[], number>('SELECT path_count FROM session ORDER BY path_count').pluck().all();
    expect(paths.reduce((sum, length) => sum + length, 0)).toBe(300 - lost);
    // Cursors of the old log expire, and none of its positions is used again.
    expect(db.prepare(`SELECT value FROM meta WHERE key = 'log_id'`).pluck().get()).toBeUndefined();
    expect(Number(db.prepare(`SELECT value FROM meta WHERE key = 'log_floor'`).pluck().get())).toBe(5060);
  });

  test('is replaced once: the next start finds a whole one and keeps what was moved aside', () => {
    using dir = makeTempDir();
    const path = dir.file('berth.db');
    seed(path);
    overwrite(path, pagesOf(path, 'session').root, randomBytes(2));
    open(path)[Symbol.dispose]();
    const aside = corruptFiles(dir.path);
    using again = open(path);
    expect(again.told).toEqual([]);
    expect(corruptFiles(dir.path)).toEqual(aside);
  });

  test('whose sessions cannot be read gives their messages a session each', () => {
    using dir = makeTempDir();
    const path = dir.file('berth.db');
    seed(path);
    overwrite(path, pagesOf(path, 'session').root, randomBytes(3));
    using opened = open(path);
    expectSound(opened.db);
    expect(opened.db.prepare('SELECT id, title, cwd, path_count FROM session ORDER BY id').raw().all()).toEqual(
      [1, 2, 3, 4, 5].map((s) => [`ses_${s}`, 'salvaged', `/src/${s}`, 60]),
    );
  });

  test('that holds a run in progress ends the run and pauses the queue of its session', () => {
    using dir = makeTempDir();
    const path = dir.file('berth.db');
    seed(path);
    const db = new Sqlite(path);
    db.exec(`UPDATE run SET ended_seq = NULL, ended_ms = NULL, outcome = NULL, turn = '{}', message_id = 'msg_open' WHERE id = 'run_2'`);
    db.close();
    overwrite(path, pagesOf(path, 'entry').leaves[2] ?? 0, randomBytes(4));
    using opened = open(path);
    expect(opened.db.prepare(`SELECT outcome, message_id FROM run WHERE id = 'run_2'`).get()).toEqual({
      outcome: 'interrupted',
      message_id: null,
    });
    expect(opened.db.prepare('SELECT id FROM session WHERE paused = 1').pluck().all()).toEqual(['ses_2']);
  });

  test('is read with its WAL', () => {
    using dir = makeTempDir();
    const path = dir.file('berth.db');
    seed(path);
    const writer = new Sqlite(path);
    writer.pragma('journal_mode = WAL');
    writer.pragma('wal_autocheckpoint = 0');
    writer.exec(`UPDATE session SET title = 'newest' WHERE id = 'ses_1'`);
    const wal = readFileSync(`${path}-wal`);
    const database = readFileSync(path);
    writer.close();
    writeFileSync(path, database);
    writeFileSync(`${path}-wal`, wal);
    overwrite(path, pagesOf(path, 'event').root, randomBytes(5));
    writeFileSync(`${path}-wal`, wal);
    using opened = open(path);
    expect(opened.db.prepare(`SELECT title FROM session WHERE id = 'ses_1'`).pluck().get()).toBe('newest');
    expect(corruptFiles(dir.path).filter((name) => name.endsWith('-wal'))).toHaveLength(1);
  });

  test('of an older version is salvaged and migrated', () => {
    using dir = makeTempDir();
    const path = dir.file('berth.db');
    openOrCreate(path, migrations.slice(0, 5)).close();
    const db = new Sqlite(path);
    db.exec(`INSERT INTO session (id, title, cwd, model, thinking, steering_mode, follow_up_mode, approval_mode, when_detached, recovery,
      created_ms, updated_ms) VALUES ('ses_1', 'old', '/', 'a/b', 'off', 'all', 'all', 'ask', 'wait', 'pause', 0, 0)`);
    db.close();
    overwrite(path, pagesOf(path, 'audit').root, randomBytes(6));
    using opened = open(path);
    expectSound(opened.db);
    expect(opened.db.prepare('SELECT title FROM session').pluck().all()).toEqual(['old']);
    expect(opened.db.pragma('user_version', { simple: true })).toBe(migrations.length);
  });

  test('that was cut off, or whose list of tables is lost, is moved aside too', () => {
    for (const damage of ['cut', 'schema'] as const) {
      using dir = makeTempDir();
      const path = dir.file('berth.db');
      seed(path);
      if (damage === 'cut') truncateSync(path, statSync(path).size - 20 * pageBytes);
      else for (const page of pagesOf(path, 'sqlite_schema').leaves) overwrite(path, page, randomBytes(7));
      using opened = open(path);
      expectSound(opened.db);
      expect(opened.told.at(-1)).toMatch(/salvaged \d sessions?, \d+ messages/);
      expect(corruptFiles(dir.path).length).toBeGreaterThan(0);
    }
  });

  test('keeps files of artifacts that it does not know any more', () => {
    using dir = makeTempDir();
    const path = dir.file('berth.db');
    seed(path);
    mkdirSync(dir.file('artifacts'));
    writeFileSync(dir.file('artifacts/art_1'), 'long');
    overwrite(path, pagesOf(path, 'artifact').root, randomBytes(8));
    using opened = open(path);
    expectSound(opened.db);
    const aside = corruptFiles(dir.path).find((name) => name.startsWith('artifacts.corrupt-')) ?? '';
    expect(readFileSync(dir.file(`${aside}/art_1`), 'utf8')).toBe('long');
  });

  test('too large for a check of all of it is found when it is asked to be checked in full', () => {
    using dir = makeTempDir();
    const path = dir.file('berth.db');
    seed(path, { sessions: 1, messages: 60 });
    const db = new Sqlite(path);
    db.prepare(
      `INSERT INTO entry (id, session_id, role, run_id, turn_kind, text, bytes, at_ms) VALUES ('msg_x', 'ses_1', 'user', 'r', 'prompt', ?, 0, 0)`,
    ).run('x'.repeat(34 * 1024 * 1024));
    db.close();
    overwrite(path, pagesOf(path, 'entry').leaves[1] ?? 0, randomBytes(9));
    open(path)[Symbol.dispose]();
    expect(corruptFiles(dir.path)).toEqual([]);
    requestFullCheck(path);
    using opened = open(path);
    expectSound(opened.db);
    expect(corruptFiles(dir.path).length).toBeGreaterThan(0);
    expect(existsSync(`${path}.check`)).toBe(false);
    expect(count(opened.db, `entry WHERE id = 'msg_x'`)).toBe(1);
  });

  test('is never worse than damaged: random bytes over any page lose a bounded part or nothing', () => {
    using dir = makeTempDir();
    const original = dir.file('original.db');
    seed(original);
    const bytes = readFileSync(original);
    const random = createRandom(11);
    for (let round = 0; round < 30; round++) {
      const path = dir.file(`${round}.db`);
      writeFileSync(path, bytes);
      const page = 2 + random.below(bytes.length / pageBytes - 2);
      overwrite(path, page, randomBytes(round, 1 + random.below(pageBytes)));
      using opened = open(path);
      expectSound(opened.db);
    }
  });
});

describe('a replacement of a damaged store that was killed', () => {
  function damagedStore(path: string): void {
    seed(path);
    overwrite(path, pagesOf(path, 'entry').leaves[1] ?? 0, randomBytes(12));
  }

  test.each([
    ['before anything was moved', (path: string) => writeFileSync(`${path}.replacing`, `${path}.corrupt-T`)],
    ['before it had a name', (path: string) => writeFileSync(`${path}.replacing`, '')],
    [
      'while it was salvaged',
      (path: string) => {
        writeFileSync(`${path}.replacing`, `${path}.corrupt-T`);
        renameSync(path, `${path}.corrupt-T`);
        writeFileSync(`${path}.salvaged`, 'half');
      },
    ],
  ])('%s goes on', (_when, leave) => {
    using dir = makeTempDir();
    const path = dir.file('berth.db');
    damagedStore(path);
    leave(path);
    using opened = open(path);
    expectSound(opened.db);
    expect(count(opened.db, 'session')).toBe(5);
    expect(existsSync(`${path}.replacing`)).toBe(false);
    expect(corruptFiles(dir.path).filter((name) => !/-(wal|shm)$/.test(name))).toHaveLength(1);
  });

  test('after its end leaves the new store alone', () => {
    using dir = makeTempDir();
    const path = dir.file('berth.db');
    damagedStore(path);
    open(path)[Symbol.dispose]();
    const [aside = ''] = corruptFiles(dir.path);
    writeFileSync(`${path}.replacing`, dir.file(aside));
    using opened = open(path);
    expect(count(opened.db, 'session')).toBe(5);
    expect(opened.told).toEqual([]);
  });
});
