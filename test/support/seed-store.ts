import { join } from 'node:path';
import { loadSqlite } from '../../src/store/sqlite.js';
import type { TestDaemon } from './daemon.js';

/** Makes the history of a session very long. The daemon must not be running. */
export function seedHistory(daemon: TestDaemon, session: string, count: number, text: string): void {
  const Sqlite = loadSqlite();
  const db = new Sqlite(join(daemon.paths.stateDir, 'berth.db'));
  const insert = db.prepare(
    `INSERT INTO entry (id, session_id, parent_id, role, run_id, turn_kind, content, text, bytes, at_ms) VALUES (?, ?, ?, ?, 'run_x', 'prompt', NULL, ?, ?, 0)`,
  );
  const leaf = db.prepare<[string], string | null>('SELECT leaf_id FROM session WHERE id = ?').pluck().get(session);
  db.transaction(() => {
    let parent = leaf ?? null;
    for (let i = 0; i < count; i++) {
      const id = `${session.replace('ses_', 'msg_')}_${i}`;
      insert.run(id, session, parent, i % 2 === 0 ? 'user' : 'assistant', `${i} ${text}`, text.length + 10);
      parent = id;
    }
    db.prepare('UPDATE session SET leaf_id = ?, path_count = path_count + ? WHERE id = ?').run(parent, count, session);
  })();
  db.close();
}

/** Makes every run end so much earlier. The daemon must not be running. */
export function ageRuns(daemon: TestDaemon, byMs: number): void {
  const Sqlite = loadSqlite();
  const db = new Sqlite(join(daemon.paths.stateDir, 'berth.db'));
  db.prepare('UPDATE run SET ended_ms = ended_ms - ?').run(byMs);
  db.close();
}
