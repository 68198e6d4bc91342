import { markAsOwn } from '../../src/store/database.js';
import { migrate, type Migration } from '../../src/store/migrate.js';
import { loadSqlite, type Database } from '../../src/store/sqlite.js';
import { migrations } from './engine.js';

const sessionColumns = `id, title, cwd, model, thinking, steering_mode, follow_up_mode, approval_mode, when_detached, recovery, leaf_id,
  message_count, last_user_text, created_ms, updated_ms`;

/** Makes a store as the berth of a schema version left it: sessions with messages, a queue and a log. */
export function makeOldStore(path: string, version: number, { sessions = 3, messages = 20, text = 'word '.repeat(20) } = {}): void {
  const db = new (loadSqlite())(path);
  markAsOwn(db);
  db.pragma('journal_mode = WAL');
  migrate(db, migrations.slice(0, version));
  db.pragma('foreign_keys = OFF');
  const insertSession = db.prepare(
    `INSERT INTO session (${sessionColumns}) VALUES (?, ?, '/', 'offline/guide', 'off', 'all', 'all', 'ask', 'wait', 'pause', ?, ?, ?, ?, ?)`,
  );
  const insertEntry = db.prepare(
    `INSERT INTO entry (id, session_id, parent_id, role, run_id, turn_kind, text, bytes, at_ms) VALUES (?, ?, ?, ?, ?, 'prompt', ?, ?, ?)`,
  );
  const insertRun = db.prepare(
    `INSERT INTO run (id, session_id, boot_id, attempts, turns, outcome, started_seq, started_ms, ended_seq, ended_ms)
     VALUES (?, ?, 'boot_old', 0, 1, 'completed', ?, ?, ?, ?)`,
  );
  const insertInput = db.prepare(
    `INSERT INTO input (id, session_id, command, kind, state, position, bytes, ack_run_id, ack_seq, at_ms)
     VALUES (?, ?, 'follow_up', 'follow_up', 'waiting', 0, 4, ?, ?, ?)`,
  );
  const insertText = db.prepare('INSERT INTO input_text (input_id, revision, text) VALUES (?, 1, ?)');
  const insertEvent = db.prepare(`INSERT INTO event (seq, session_id, type, version, payload, at_ms) VALUES (?, ?, 'warning', 1, ?, ?)`);
  const atMs = Date.now();
  db.transaction(() => {
    let seq = 0;
    db.exec(`INSERT INTO meta (key, value) VALUES ('log_id', 'log_old')`);
    for (let s = 0; s < sessions; s++) {
      const session = `ses_${s}`;
      insertSession.run(session, `title ${s}`, `msg_${s}_${messages - 1}`, messages, 'last', atMs, atMs);
      insertRun.run(`run_${s}`, session, seq + 1, atMs, seq + 2, atMs);
      for (let m = 0; m < messages; m++) {
        const said = `${s} ${m} ${text}`;
        insertEntry.run(`msg_${s}_${m}`, session, m === 0 ? null : `msg_${s}_${m - 1}`, m % 2 ? 'assistant' : 'user', `run_${s}`, said, said.length, atMs); // prettier-ignore
        insertEvent.run(++seq, session, JSON.stringify({ session_id: session, code: 'x', message: said }), atMs);
      }
      insertInput.run(`inp_${s}`, session, `run_${s}`, seq, atMs);
      insertText.run(`inp_${s}`, `next ${s}`);
    }
    const columns = db.prepare(`SELECT name FROM pragma_table_info('session')`).pluck().all();
    if (columns.includes('path_count')) db.prepare('UPDATE session SET path_count = ?').run(messages);
  })();
  db.close();
}

/** What a person would miss. */
export function contentsOf(db: Database): unknown {
  const all = (sql: string): unknown[] => db.prepare(sql).raw().all();
  return {
    log: all(`SELECT value FROM meta WHERE key = 'log_id'`),
    sessions: all('SELECT id, title, leaf_id, message_count FROM session ORDER BY id'),
    entries: all('SELECT id, session_id, parent_id, role, text FROM entry ORDER BY no'),
    runs: all('SELECT id, outcome, started_seq, ended_seq FROM run ORDER BY id'),
    inputs: all('SELECT id, state, t.text FROM input JOIN input_text t ON t.input_id = id ORDER BY id'),
    events: all('SELECT seq, session_id, payload FROM event ORDER BY seq'),
  };
}

export function readContents(path: string): unknown {
  const db = new (loadSqlite())(path, { readonly: true });
  try {
    return contentsOf(db);
  } finally {
    db.close();
  }
}

/** All migrations and one more. */
export function nextMigration(sql: string): Migration[] {
  return [...migrations, { version: migrations.length + 1, sql }];
}
