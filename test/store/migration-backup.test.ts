import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { describe, expect, test, vi } from 'vitest';
import { openOrCreate } from '../../src/store/create.js';
import { openDatabase } from '../../src/store/database.js';
import { StoreRefused } from '../../src/store/faults.js';
import { migrations } from '../support/engine.js';
import { loadSqlite, type Database } from '../../src/store/sqlite.js';
import { contentsOf, makeOldStore, nextMigration, readContents } from '../support/old-stores.js';
import { mountSmallDisk, noSmallDisk } from '../support/small-disk.js';
import { makeTempDir } from '../support/temp-dir.js';

function copiesIn(dir: string): string[] {
  return readdirSync(dir).filter((name) => name.includes('.before-'));
}

describe('a store of an older version', () => {
  test.each(migrations.slice(0, -1).map(({ version }) => version))('%i keeps all of its data, and a copy of before is kept', (version) => {
    using dir = makeTempDir();
    const path = dir.file('berth.db');
    makeOldStore(path, version);
    const before = readContents(path);
    const told: string[] = [];
    const db = openOrCreate(path, migrations, (sentence) => told.push(sentence));
    expect(contentsOf(db)).toEqual(before);
    expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
    expect(db.prepare('SELECT DISTINCT path_count FROM session').pluck().all()).toEqual([20]);
    db.close();
    const copy = `berth.db.before-${migrations.length}`;
    expect(told).toEqual([expect.stringMatching(`from schema version ${version} to ${migrations.length}; a copy .*${copy}`)]);
    expect(copiesIn(dir.path)).toEqual([copy]);
    expect(statSync(dir.file(copy)).mode & 0o777).toBe(0o600);
    expect(readContents(dir.file(copy))).toEqual(before);
  });

  test('is left whole by a migration that fails, and so is the copy', () => {
    using dir = makeTempDir();
    const path = dir.file('berth.db');
    makeOldStore(path, migrations.length);
    const before = readContents(path);
    const failing = nextMigration('DELETE FROM input_text; INSERT INTO nowhere VALUES (1);');
    for (let time = 0; time < 2; time++) {
      expect(() => openOrCreate(path, failing)).toThrow(/nowhere/);
      expect(readContents(path)).toEqual(before);
      expect(copiesIn(dir.path)).toEqual([`berth.db.before-${failing.length}`]);
      expect(readContents(dir.file(`berth.db.before-${failing.length}`))).toEqual(before);
    }
  });

  test('leaves the copies of the last two migrations, and what has another name alone', () => {
    using dir = makeTempDir();
    const path = dir.file('berth.db');
    makeOldStore(path, 5);
    writeFileSync(dir.file('berth.db.before-lunch'), 'mine');
    for (const version of [8, 12, migrations.length]) openOrCreate(path, migrations.slice(0, version)).close();
    expect(copiesIn(dir.path).toSorted()).toEqual([`berth.db.before-12`, `berth.db.before-${migrations.length}`, 'berth.db.before-lunch']);
  });

  test.skipIf(noSmallDisk() !== undefined)('is not touched where there is no room for a copy (needs mount)', () => {
    using dir = makeTempDir();
    using disk = mountSmallDisk(dir.file('disk'), 4);
    const path = `${disk.path}/berth.db`;
    makeOldStore(path, 10, { sessions: 4, messages: 200, text: 'word '.repeat(200) });
    const before = readContents(path);
    expect(() => openOrCreate(path, migrations)).toThrow(StoreRefused);
    expect(() => openOrCreate(path, migrations)).toThrow(
      /needs \d+ MB of free space for a copy and the work; there are \d MB.*free some space/,
    );
    expect(readContents(path)).toEqual(before);
    expect(readdirSync(disk.path).filter((name) => !/-(wal|shm)$/.test(name))).toEqual(['berth.db']);
  });
});

test('a store of this version is not copied', () => {
  using dir = makeTempDir();
  const path = dir.file('berth.db');
  openOrCreate(path, migrations).close();
  openOrCreate(path, migrations).close();
  expect(copiesIn(dir.path)).toEqual([]);
});

test('a file system on which SQLite cannot have a WAL is refused, with what to do', () => {
  using dir = makeTempDir();
  const { prototype } = loadSqlite();
  const pragma = prototype.pragma;
  using _ = vi.spyOn(prototype, 'pragma').mockImplementation(function (this: Database, source, options) {
    return source.startsWith('journal_mode') ? 'delete' : pragma.call(this, source, options);
  });
  const open = (): unknown => openDatabase(dir.file('berth.db'), migrations.length);
  expect(open).toThrow(StoreRefused);
  expect(open).toThrow(/journal_mode is delete, needs wal; put the state directory on a local file system/);
});
