import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { limits } from '../../src/protocol/limits.js';
import { openDatabase } from '../../src/store/database.js';
import { StoreRefused } from '../../src/store/faults.js';
import { migrate } from '../../src/store/migrate.js';
import { loadSqlite } from '../../src/store/sqlite.js';
import { migrations, openStore } from '../support/engine.js';
import { makeTempDir } from '../support/temp-dir.js';

const Sqlite = loadSqlite();

function digest(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

/** Opens and migrates, as the daemon does. */
function open(path: string): void {
  openStore(path).db.close();
}

describe('the pragmas', () => {
  test('are really set, on a new store and on one that is opened again', () => {
    using dir = makeTempDir();
    for (let time = 0; time < 2; time++) {
      const { db } = openStore(dir.file('berth.db'));
      db.prepare('SELECT count(*) FROM event').get();
      const read = (name: string): unknown => db.pragma(name, { simple: true });
      expect({
        journal_mode: read('journal_mode'),
        synchronous: read('synchronous'),
        foreign_keys: read('foreign_keys'),
        auto_vacuum: read('auto_vacuum'),
        trusted_schema: read('trusted_schema'),
        busy_timeout: read('busy_timeout'),
      }).toEqual({
        journal_mode: 'wal',
        synchronous: 2,
        foreign_keys: 1,
        auto_vacuum: 2,
        trusted_schema: 0,
        busy_timeout: limits.busyTimeoutMs,
      });
      expect(limits.busyTimeoutMs).toBeGreaterThan(0);
      db.close();
    }
  });

  test('come with a SQLite that does not lose a WAL when it is reset', () => {
    using dir = makeTempDir();
    const db = openDatabase(dir.file('berth.db'), 1);
    const version = db.prepare<[], string>('SELECT sqlite_version()').pluck().get() ?? '';
    const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number);
    expect(major * 1e6 + minor * 1e3 + patch).toBeGreaterThanOrEqual(3_051_003);
    db.close();
  });

  test('make foreign keys hold', () => {
    using dir = makeTempDir();
    const { db } = openStore(dir.file('berth.db'));
    expect(() =>
      db.exec(`INSERT INTO run (id, session_id, boot_id, attempts, started_seq, started_ms) VALUES ('r', 'none', 'b', 0, 1, 1)`),
    ).toThrow(/FOREIGN KEY/);
    db.close();
  });
});

describe('what is not a store', () => {
  test.each([
    ['a text', 'dear diary\n'.repeat(100)],
    ['a single byte', 'x'],
    ['the beginning of a database', 'SQLite format 3'],
  ])('%s is refused and left as it is', (_what, text) => {
    using dir = makeTempDir();
    const path = dir.file('berth.db');
    writeFileSync(path, text);
    expect(() => open(path)).toThrow(StoreRefused);
    expect(readFileSync(path, 'utf8')).toBe(text);
    expect(readdirSync(dir.path)).toEqual(['berth.db']);
  });

  test('a directory is refused', () => {
    using dir = makeTempDir();
    mkdirSync(dir.file('berth.db'));
    expect(() => open(dir.file('berth.db'))).toThrow(StoreRefused);
  });

  test('an empty file becomes a store', () => {
    using dir = makeTempDir();
    writeFileSync(dir.file('berth.db'), '');
    open(dir.file('berth.db'));
    expect(statSync(dir.file('berth.db')).size).toBeGreaterThan(0);
  });

  test.each([0, 1])('a database of another program, with user_version %i, is refused and left as it is', (version) => {
    using dir = makeTempDir();
    const path = dir.file('berth.db');
    const theirs = new Sqlite(path);
    theirs.exec(`CREATE TABLE notes (text); INSERT INTO notes VALUES ('mine'); PRAGMA user_version = ${version}`);
    theirs.close();
    const before = digest(path);
    expect(() => open(path)).toThrow(StoreRefused);
    expect(digest(path)).toBe(before);
  });
});

describe('a store of a newer berth', () => {
  test('is refused with both versions named, and not a byte of it is touched', () => {
    using dir = makeTempDir();
    const path = dir.file('berth.db');
    open(path);
    const newer = new Sqlite(path);
    newer.pragma('user_version = 4711');
    newer.close();
    const before = { digest: digest(path), mtime: statSync(path).mtimeMs, files: readdirSync(dir.path) };
    expect(() => open(path)).toThrow(new RegExp(`4711.* ${migrations.length}\\b`));
    expect({ digest: digest(path), mtime: statSync(path).mtimeMs, files: readdirSync(dir.path) }).toEqual(before);
  });

  test('is refused too when its version is still in the WAL, and nothing in it is lost', () => {
    using dir = makeTempDir();
    using killed = makeTempDir();
    const path = dir.file('berth.db');
    open(path);
    const newer = new Sqlite(path);
    newer.pragma('journal_mode = WAL');
    newer.pragma('wal_autocheckpoint = 0');
    newer.exec(`CREATE TABLE later (text); INSERT INTO later VALUES ('kept'); PRAGMA user_version = 4711`);
    for (const end of ['', '-wal']) writeFileSync(killed.file(`berth.db${end}`), readFileSync(path + end));
    newer.close();
    expect(() => open(killed.file('berth.db'))).toThrow(/4711/);
    const after = new Sqlite(killed.file('berth.db'));
    expect(after.prepare('SELECT text FROM later').pluck().get()).toBe('kept');
    expect(after.pragma('user_version', { simple: true })).toBe(4711);
    after.close();
  });
});

test('a store that is opened for the first time is whole: migrated, indexed and empty', () => {
  using dir = makeTempDir();
  const path = dir.file('berth.db');
  const db = openDatabase(path, migrations.length);
  migrate(db, migrations);
  expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
  expect(db.pragma('foreign_key_check')).toEqual([]);
  expect(db.prepare('SELECT count(*) FROM event').pluck().get()).toBe(0);
  db.close();
  expect(existsSync(`${path}-wal`)).toBe(false);
});
