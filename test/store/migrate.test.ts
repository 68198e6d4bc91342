import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { openDatabase } from '../../src/store/database.js';
import { StoreRefused } from '../../src/store/faults.js';
import { createInputRows } from '../../src/store/rows/input-rows.js';
import { migrate, readMigrations, type Migration } from '../../src/store/migrate.js';
import type { Database } from '../../src/store/sqlite.js';
import { migrations } from '../support/engine.js';
import { makeTempDir } from '../support/temp-dir.js';

function tables(db: Database): unknown[] {
  return db.prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name`).pluck().all();
}

function versionOf(db: Database): unknown {
  return db.pragma('user_version', { simple: true });
}

const next: Migration = { version: migrations.length + 1, sql: 'CREATE TABLE added (id); INSERT INTO added VALUES (1);' };
const broken: Migration = { ...next, sql: `${next.sql} DELETE FROM meta; INSERT INTO nowhere VALUES (1); CREATE TABLE never (id);` };

describe('a migration', () => {
  test('brings an empty store to the newest version, and again changes nothing', () => {
    using dir = makeTempDir();
    const db = openDatabase(dir.file('a.db'), migrations.length);
    migrate(db, migrations);
    expect(versionOf(db)).toBe(migrations.length);
    const before = db.prepare('SELECT * FROM sqlite_schema').all();
    migrate(db, migrations);
    expect(db.prepare('SELECT * FROM sqlite_schema').all()).toEqual(before);
    db.close();
  });

  test('brings an older store on and keeps its data', () => {
    using dir = makeTempDir();
    const db = openDatabase(dir.file('a.db'), migrations.length);
    migrate(db, migrations);
    db.exec(`INSERT INTO meta VALUES ('log_id', 'kept')`);
    migrate(db, [...migrations, next]);
    expect(versionOf(db)).toBe(next.version);
    expect(db.prepare(`SELECT value FROM meta WHERE key = 'log_id'`).pluck().all()).toEqual(['kept']);
    expect(db.prepare('SELECT id FROM added').pluck().all()).toEqual([1]);
    db.close();
  });

  test('tells the images of inputs that wait, and the words that will be sent, from what older versions stored', () => {
    using dir = makeTempDir();
    const db = openDatabase(dir.file('a.db'), migrations.length);
    const imageColumn = migrations.findIndex(({ sql }) => sql.includes('ALTER TABLE input ADD COLUMN images'));
    migrate(db, migrations.slice(0, imageColumn));
    db.exec(`INSERT INTO session (id, title, cwd, model, thinking, steering_mode, follow_up_mode, approval_mode, when_detached, recovery,
      created_ms, updated_ms) VALUES ('ses_1', '', '/', 'm', 'off', 'all', 'all', 'ask', 'wait', 'pause', 0, 0)`);
    const image = { type: 'image', data: 'iVBORw0KGgo=', mime_type: 'image/png' };
    const older: [string, string, unknown][] = [
      ['inp_1', 'plain', null],
      ['inp_2', 'look', [image, { ...image, data: 'AA==' }]],
      ['inp_3', 'not sent', [{ type: 'text', text: 'in' }, image, { type: 'text', text: 'side' }]],
    ];
    for (const [position, [id, text, content]] of older.entries()) {
      db.prepare(
        `INSERT INTO input (id, session_id, command, kind, state, position, bytes, ack_run_id, ack_seq, at_ms)
         VALUES (?, 'ses_1', 'steer', 'steer', 'waiting', ?, 0, 'run_1', 1, 0)`,
      ).run(id, position);
      db.prepare('INSERT INTO input_text VALUES (?, 1, ?, ?)').run(id, text, content && JSON.stringify(content));
    }
    migrate(db, migrations);
    const png = { mime_type: 'image/png', bytes: 8 };
    const waiting = createInputRows(db).read.waiting('ses_1');
    expect(waiting.map(({ text, images }) => [text, images])).toEqual([
      ['plain', undefined],
      ['look', [png, { ...png, bytes: 1 }]],
      ['inside', [png]],
    ]);
    db.close();
  });

  test('counts the messages on the path of sessions that older versions stored, and not those beside it', () => {
    using dir = makeTempDir();
    const db = openDatabase(dir.file('a.db'), migrations.length);
    migrate(
      db,
      migrations.slice(
        0,
        migrations.findIndex(({ sql }) => sql.includes('ADD COLUMN path_count')),
      ),
    );
    const session = db.prepare(`INSERT INTO session (id, title, cwd, model, thinking, steering_mode, follow_up_mode, approval_mode,
      when_detached, recovery, created_ms, updated_ms) VALUES (?, '', '/', 'm', 'off', 'all', 'all', 'ask', 'wait', 'pause', 0, 0)`);
    const entry = db.prepare(
      `INSERT INTO entry (id, session_id, parent_id, role, run_id, turn_kind, text, bytes, at_ms) VALUES (?, 'a', ?, 'user', 'r', 'prompt', '', 0, 0)`,
    );
    for (const id of ['a', 'branch', 'empty']) session.run(id);
    for (const [id, parent] of [['1', null], ['2', '1'], ['3', '2'], ['side', '2'], ['4', '3']]) entry.run(id, parent); // prettier-ignore
    for (const [leaf, id] of [['4', 'a'], ['side', 'branch']]) db.prepare('UPDATE session SET leaf_id = ? WHERE id = ?').run(leaf, id); // prettier-ignore
    migrate(db, migrations);
    expect(db.prepare('SELECT id, path_count FROM session ORDER BY id').raw().all()).toEqual([
      ['a', 4],
      ['branch', 3],
      ['empty', 0],
    ]);
    db.close();
  });

  test('keeps every event, input and text, and the positions of events that were deleted', () => {
    using dir = makeTempDir();
    const db = openDatabase(dir.file('a.db'), migrations.length);
    const before = migrations.findIndex(({ sql }) => sql.includes('CREATE TABLE event_next'));
    migrate(db, migrations.slice(0, before));
    db.exec(`INSERT INTO session (id, title, cwd, model, thinking, steering_mode, follow_up_mode, approval_mode, when_detached, recovery,
      created_ms, updated_ms) VALUES ('ses_1', '', '/', 'm', 'off', 'all', 'all', 'ask', 'wait', 'pause', 0, 0)`);
    for (let i = 1; i <= 300; i++) {
      db.prepare(`INSERT INTO event (session_id, run_id, type, version, payload, at_ms) VALUES ('ses_1', ?, 'status', 1, ?, ?)`).run(
        i % 2 ? `run_${i}` : null,
        `{"message":"${i}"}`,
        i,
      );
      db.prepare(
        `INSERT INTO input (id, session_id, command, kind, state, position, revision, text_revision, hold, client, bytes, for_next_run,
           ack_run_id, ack_seq, run_id, at_ms, images)
         VALUES (?, 'ses_1', 'steer', 'steer', 'waiting', ?, 2, 2, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ).run(`inp_${i}`, 300 - i, i % 2, `cli_${i}`, i, Number(i % 7 === 0), `run_${i}`, i, null, i, i % 3 ? null : '[]');
      for (const revision of [1, 2])
        db.prepare('INSERT INTO input_text VALUES (?, ?, ?, ?)').run(`inp_${i}`, revision, `text ${i} at ${revision}`, null);
    }
    db.exec('DELETE FROM event WHERE seq > 290');
    const everything = (): object[][] =>
      ['event', 'input', 'input_text'].map((table) => db.prepare<[], object>(`SELECT * FROM ${table} ORDER BY 1, 2`).all());
    const [events, inputRows, texts] = everything();
    migrate(db, migrations);
    // The one column that inputs have got since then.
    expect(everything()).toEqual([events, inputRows?.map((row) => ({ ...row, first_text: null })), texts]);
    const inputs = createInputRows(db).read;
    const queue = Array.from({ length: 300 }, (_, at) => 300 - at).map((i) => ({
      input_id: `inp_${i}`,
      kind: 'steer',
      text: `text ${i} at 2`,
      hold: i % 2 === 1,
      revision: 2,
      client: `cli_${i}`,
      ...(i % 7 === 0 ? { for_run: `run_${i}` } : {}),
      ...(i % 3 === 0 ? { images: [] } : {}),
    }));
    expect(inputs.waiting('ses_1')).toEqual(queue);
    expect(inputs.acknowledged('inp_7')).toMatchObject({ text: 'text 7 at 1', runId: 'run_7', seq: 7 });
    expect([1, 2].map((revision) => inputs.textAt('inp_7', revision))).toEqual(['text 7 at 1', 'text 7 at 2']);
    expect(db.pragma('foreign_key_check')).toEqual([]);
    expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
    expect(() => db.exec(`INSERT INTO input_text VALUES ('inp_none', 1, '', NULL)`)).toThrow(/FOREIGN KEY/);
    expect(db.prepare(`SELECT value FROM meta WHERE key = 'log_floor'`).pluck().get()).toBe('300');
    db.close();
  });

  test('that fails in the middle leaves the version before it whole, and can be tried again', () => {
    using dir = makeTempDir();
    const path = dir.file('a.db');
    const db = openDatabase(path, migrations.length);
    migrate(db, migrations);
    db.exec(`INSERT INTO meta VALUES ('log_id', 'kept')`);
    const before = tables(db);
    expect(() => migrate(db, [...migrations, broken])).toThrow(/nowhere/);
    expect(db.inTransaction).toBe(false);
    db.close();
    const again = openDatabase(path, next.version);
    expect(versionOf(again)).toBe(migrations.length);
    expect(tables(again)).toEqual(before);
    expect(again.prepare(`SELECT value FROM meta WHERE key = 'log_id'`).pluck().all()).toEqual(['kept']);
    migrate(again, [...migrations, next]);
    expect(versionOf(again)).toBe(next.version);
    again.close();
  });

  test('is not begun on a store that is newer', () => {
    using dir = makeTempDir();
    const db = openDatabase(dir.file('a.db'), next.version);
    migrate(db, [...migrations, next]);
    expect(() => migrate(db, migrations)).toThrow(StoreRefused);
    expect(versionOf(db)).toBe(next.version);
    db.close();
  });
});

describe('the files of migrations', () => {
  test('are read in order; what is named otherwise is passed over', () => {
    using dir = makeTempDir();
    for (const name of ['0002_b.sql', '0001_a.sql', 'README.md', '0003_c.sql.orig']) writeFileSync(dir.file(name), `-- ${name}`);
    expect(readMigrations(dir.path)).toEqual([
      { version: 1, sql: '-- 0001_a.sql' },
      { version: 2, sql: '-- 0002_b.sql' },
    ]);
  });

  test('with a hole in their numbers are a broken installation', () => {
    using dir = makeTempDir();
    for (const name of ['0001_a.sql', '0003_c.sql']) writeFileSync(dir.file(name), '');
    expect(() => readMigrations(dir.path)).toThrow(/migration 2 is missing before 0003_c\.sql/);
  });

  test('number from one and are all there', () => {
    expect(migrations.map(({ version }) => version)).toEqual(migrations.map((_migration, index) => index + 1));
    expect(migrations.length).toBeGreaterThan(0);
  });
});

test('the bytes of a store that needs no migration are not written', () => {
  using dir = makeTempDir();
  const path = dir.file('a.db');
  const first = openDatabase(path, migrations.length);
  migrate(first, migrations);
  first.close();
  const before = createHash('sha256').update(readFileSync(path)).digest('hex');
  const second = openDatabase(path, migrations.length);
  migrate(second, migrations);
  second.close();
  expect(createHash('sha256').update(readFileSync(path)).digest('hex')).toBe(before);
});
