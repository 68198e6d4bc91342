import type { Database } from '../sqlite.js';

interface Options {
  /** The newest position of the log that a row or a client may know. */
  seqMax: number;
  /** Whether rows were lost. */
  isIncomplete: boolean;
}

/** A directory that does not exist: calls of tools fail there with a clear reason. */
const unknownDirectory = '/nonexistent';

/** Makes salvaged rows refer to rows that there are. Callers own the transaction. */
export function mendReferences(db: Database, { seqMax, isIncomplete }: Options): void {
  const floor = Math.max(seqMax, ...['run.started_seq', 'run.ended_seq', 'input.ack_seq'].map((column) => newest(db, column)));
  db.prepare(`INSERT OR REPLACE INTO meta (key, value) VALUES ('log_floor', ?), ('search_mark', '0')`).run(String(floor));
  if (isIncomplete) for (const sql of steps) db.prepare(sql).run({ floor, unknownDirectory });
}

function newest(db: Database, column: string): number {
  const [table, name] = column.split('.');
  return db.prepare<[], number | null>(`SELECT max(${name}) FROM ${table}`).pluck().get() ?? 0;
}

const ofNoSession = 'session_id NOT IN (SELECT id FROM session)';

const steps = [
  // Messages whose session is lost get one that says so.
  `INSERT INTO session (id, title, cwd, model, thinking, steering_mode, follow_up_mode, approval_mode, when_detached, recovery,
     created_ms, updated_ms, message_count, leaf_id)
   SELECT session_id, 'salvaged', coalesce((SELECT real_path FROM anchor WHERE anchor.session_id = entry.session_id), :unknownDirectory),
     coalesce(max(model), 'offline/guide'), 'off', 'one-at-a-time', 'one-at-a-time', 'ask', 'wait', 'pause', min(at_ms), max(at_ms), count(*),
     (SELECT id FROM entry last WHERE last.session_id = entry.session_id ORDER BY no DESC LIMIT 1)
   FROM entry WHERE ${ofNoSession} GROUP BY session_id`,
  ...['todo', 'anchor', 'draft', 'artifact', 'ui_request', 'input', 'run'].map((table) => `DELETE FROM ${table} WHERE ${ofNoSession}`),
  `DELETE FROM permission WHERE session_id IS NOT NULL AND ${ofNoSession}`,
  // What was said before a lost message most likely led to what was said after it.
  `UPDATE entry SET parent_id = (SELECT id FROM entry earlier WHERE earlier.session_id = entry.session_id AND earlier.no < entry.no
     ORDER BY no DESC LIMIT 1)
   WHERE parent_id IS NOT NULL AND parent_id NOT IN (SELECT id FROM entry)`,
  `UPDATE session SET leaf_id = (SELECT id FROM entry WHERE session_id = session.id ORDER BY no DESC LIMIT 1)
   WHERE leaf_id IS NOT NULL AND leaf_id NOT IN (SELECT id FROM entry)`,
  'UPDATE session SET base_id = NULL WHERE base_id NOT IN (SELECT id FROM entry)',
  'UPDATE session SET parent_id = NULL WHERE parent_id NOT IN (SELECT id FROM session)',
  `UPDATE session SET path_count = (
     WITH RECURSIVE path (id) AS (
       SELECT session.leaf_id WHERE session.leaf_id IS NOT NULL
       UNION ALL SELECT e.parent_id FROM path JOIN entry e ON e.id = path.id WHERE e.parent_id IS NOT NULL)
     SELECT count(*) FROM path)
   WHERE deleted = 0`,
  'DELETE FROM artifact WHERE entry_id IS NOT NULL AND entry_id NOT IN (SELECT id FROM entry)',
  // A run that was left is settled from its rows, and some of them may be lost: it ends here, and its queue waits for a person.
  `UPDATE session SET paused = 1 WHERE id IN (SELECT session_id FROM run WHERE ended_seq IS NULL)`,
  `UPDATE run SET ended_seq = :floor, ended_ms = started_ms, outcome = 'interrupted', turn = NULL, message_id = NULL, message_role = NULL,
     error = NULL WHERE ended_seq IS NULL`,
  'DELETE FROM tool_call',
  'DELETE FROM partial',
  `DELETE FROM ui_request WHERE run_id NOT IN (SELECT id FROM run)`,
  `UPDATE ui_request SET outcome = 'interrupted', resolved_by = 'daemon', resolved_ms = at_ms WHERE outcome IS NULL`,
  `UPDATE input SET for_next_run = 0 WHERE for_next_run = 1`,
  'DELETE FROM input_text WHERE input_id NOT IN (SELECT id FROM input)',
  // An input without its text is not sent.
  `UPDATE input SET state = 'dropped' WHERE state = 'waiting'
     AND NOT EXISTS (SELECT 1 FROM input_text WHERE input_id = id AND revision = text_revision)
     AND (text_revision > 1 OR first_text IS NULL)`,
  `INSERT INTO input_text (input_id, revision, text)
   SELECT id, 1, '' FROM input WHERE first_text IS NULL AND NOT EXISTS (SELECT 1 FROM input_text WHERE input_id = id AND revision = 1)`,
];
