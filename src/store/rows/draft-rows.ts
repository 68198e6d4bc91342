import type { DraftChange } from '../../core/drafts.js';
import { limits } from '../../protocol/limits.js';
import type { Database } from '../sqlite.js';

/** A draft, and the connection of the client that stored it last. */
export interface DraftRow {
  id: string;
  by: string;
  clientId: string;
  text: string;
  updatedMs: number;
}

/** What people have begun to write. Callers own the transaction. */
export function createDraftRows(db: Database) {
  const all = db.prepare<[string], DraftRow>(
    `SELECT id, said_by AS "by", client_id AS clientId, text, at_ms AS updatedMs FROM draft WHERE session_id = ? ORDER BY position DESC`,
  );
  const put = db.prepare<[Record<string, unknown>]>(
    `INSERT OR REPLACE INTO draft (session_id, id, position, said_by, client_id, text, at_ms)
     VALUES (:session, :id, (SELECT coalesce(max(position), 0) + 1 FROM draft WHERE session_id = :session), :by, :client, :text, :at)`,
  );
  const drop = db.prepare<[string, string]>('DELETE FROM draft WHERE session_id = ? AND id = ?');
  const dropOldest = db.prepare<[Record<string, unknown>]>(
    `DELETE FROM draft WHERE session_id = :session AND id IN (
       SELECT id FROM (
         SELECT id, row_number() OVER newest AS place, sum(octet_length(text)) OVER newest AS bytes
         FROM draft WHERE session_id = :session WINDOW newest AS (ORDER BY position DESC))
       WHERE place > 1 AND (place > :count OR bytes > :bytes))`,
  );
  return {
    read: {
      /** Newest first. */
      of: (sessionId: string): DraftRow[] => all.all(sessionId),
    },
    write: {
      /** Stores a draft, or deletes it when its text is empty. Beyond the limits of its session, the oldest are deleted. */
      set(sessionId: string, { draftId, by, clientId, text }: DraftChange, atMs: number): void {
        if (text === '') {
          drop.run(sessionId, draftId);
          return;
        }
        put.run({ session: sessionId, id: draftId, by, client: clientId, text, at: atMs });
        dropOldest.run({ session: sessionId, count: limits.draftsPerSessionMax, bytes: limits.draftsBytesMax });
      },
    },
  };
}
