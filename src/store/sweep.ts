import { limits } from '../protocol/limits.js';
import type { SearchRows } from './rows/search-rows.js';
import type { Database } from './sqlite.js';

/** As many rows as a batch may remove, but one at least. */
function upToBytes<Row extends { bytes: number }>(rows: Row[]): Row[] {
  let bytes = 0;
  const end = rows.findIndex((row) => (bytes += row.bytes) > limits.sweepBatchBytes);
  return end === -1 ? rows : rows.slice(0, Math.max(end, 1));
}

/** Garbage collection of deleted sessions, a batch at a time. Callers own the transaction. */
export function createSweep(db: Database, search: SearchRows['write']) {
  /** Entries of the deleted session that a branch still uses, with all their ancestors. */
  const kept = `WITH RECURSIVE kept (id, parent_id) AS (
      SELECT e.id, e.parent_id FROM entry e WHERE e.session_id = :session AND (
        EXISTS (SELECT 1 FROM session s WHERE (s.leaf_id = e.id OR s.base_id = e.id) AND s.id <> :session AND s.deleted = 0)
        OR EXISTS (SELECT 1 FROM entry c WHERE c.parent_id = e.id AND c.session_id <> :session))
      UNION SELECT e.id, e.parent_id FROM kept JOIN entry e ON e.id = kept.parent_id)`;
  const gone = `SELECT no, bytes FROM entry WHERE session_id = :session AND id NOT IN (SELECT id FROM kept) ORDER BY no DESC LIMIT :limit`;
  const detachDeleted = db.prepare(
    'UPDATE session SET leaf_id = NULL, base_id = NULL WHERE deleted = 1 AND (leaf_id IS NOT NULL OR base_id IS NOT NULL)',
  );
  // The removed session may have been the last to use the entries of another deleted session: sweep those with entries again.
  const sweepShellsAgain = db.prepare('UPDATE session SET deleted = 1 WHERE deleted = 2');
  const batch = db.prepare<[Record<string, unknown>], { no: number; bytes: number }>(`${kept} ${gone}`);
  const texts = db.prepare<[Record<string, unknown>], { id: string; bytes: number }>(
    'SELECT id, bytes FROM input WHERE session_id = :session AND EXISTS (SELECT 1 FROM input_text WHERE input_id = id) LIMIT :limit',
  );
  const dropText = db.prepare('DELETE FROM input_text WHERE input_id = ?');
  const dropArtifacts = db.prepare('DELETE FROM artifact WHERE entry_id = (SELECT id FROM entry WHERE no = ?)');
  const dropEntry = db.prepare('DELETE FROM entry WHERE no = ?');
  const steps = [
    'DELETE FROM event WHERE seq IN (SELECT seq FROM event WHERE session_id = :session AND seq < (SELECT max(seq) FROM event WHERE session_id = :session) LIMIT :limit)',
    'DELETE FROM artifact WHERE session_id = :session AND file IS NOT NULL',
    'DELETE FROM draft WHERE session_id = :session',
    'DELETE FROM todo WHERE session_id = :session',
    'DELETE FROM anchor WHERE session_id = :session',
    'DELETE FROM permission WHERE session_id = :session',
    'DELETE FROM prompt WHERE no IN (SELECT no FROM prompt WHERE session_id = :session LIMIT :limit)',
    'DELETE FROM ui_request WHERE id IN (SELECT id FROM ui_request WHERE session_id = :session LIMIT :limit)',
    'DELETE FROM input WHERE id IN (SELECT id FROM input WHERE session_id = :session AND NOT EXISTS (SELECT 1 FROM input_text WHERE input_id = id) LIMIT :limit)',
    'DELETE FROM run WHERE id IN (SELECT id FROM run WHERE session_id = :session LIMIT :limit)',
  ].map((sql) => db.prepare<[Record<string, unknown>]>(sql));
  const deleteSession = db.prepare(
    'DELETE FROM session WHERE id = ? AND NOT EXISTS (SELECT 1 FROM entry WHERE session_id = session.id) AND NOT EXISTS (SELECT 1 FROM artifact WHERE session_id = session.id)',
  );
  const markAsShell = db.prepare(`UPDATE session SET deleted = 2, title = '', last_user_text = '' WHERE id = ?`);

  return {
    /** Removes a batch of rows. The row of a session whose entries a branch still uses stays, without title and text. */
    batch(sessionId: string): void {
      const some = { session: sessionId, limit: limits.sweepBatchRows };
      detachDeleted.run();
      const inputs = upToBytes(texts.all(some));
      for (const { id } of inputs) dropText.run(id);
      if (inputs.length > 0) return;
      for (const step of steps) if (step.run(some).changes > 0) return;
      const entries = upToBytes(batch.all(some));
      for (const { no } of entries) {
        dropArtifacts.run(no);
        dropEntry.run(no);
      }
      if (entries.length > 0) return search.forget(entries.map(({ no }) => no));
      if (deleteSession.run(sessionId).changes > 0) sweepShellsAgain.run();
      else markAsShell.run(sessionId);
    },
    /** Incremental vacuum: returns a batch of free pages to the file system. True when more are left. */
    releasePages(): boolean {
      db.pragma(`incremental_vacuum(${limits.vacuumPagesMax})`);
      return (db.pragma('freelist_count', { simple: true }) as number) > 0;
    },
  };
}
