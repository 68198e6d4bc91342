import type { AuditEntry } from '../../core/decision.js';
import { limits } from '../../protocol/limits.js';
import type { AuditView } from '../../protocol/permissions.js';
import type { Database } from '../sqlite.js';

interface Row extends Omit<AuditView, 'at' | 'by'> {
  no: number;
  at_ms: number;
  decided_by: string;
}

/** The audit log of authorized and denied calls. Callers own the transaction. */
export function createAuditRows(db: Database) {
  const insert = db.prepare(
    `INSERT INTO audit (at_ms, session_id, run_id, tool_call_id, tool_name, subject, action, decided_by, why)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const trim = db.prepare<[number]>('DELETE FROM audit WHERE no <= (SELECT max(no) FROM audit) - ?');
  const newest = db.prepare<[Record<string, unknown>], Row>(
    'SELECT * FROM audit WHERE (:session IS NULL OR session_id = :session) AND (:before IS NULL OR no < :before) ORDER BY no DESC LIMIT :limit',
  );
  return {
    read: {
      /** A page of audit rows, the newest first. */
      page(sessionId: string | undefined, before: number | undefined, limit: number): { no: number; view: AuditView }[] {
        const rows = newest.all({ session: sessionId ?? null, before: before ?? null, limit });
        return rows.map(({ no, at_ms, decided_by, session_id, run_id, tool_call_id, tool_name, subject, action, why }) => ({
          no,
          view: { at: new Date(at_ms).toISOString(), session_id, run_id, tool_call_id, tool_name, subject, action, by: decided_by, why },
        }));
      },
    },
    write: {
      add(entry: AuditEntry, sessionId: string, atMs: number): void {
        const { runId, toolCallId, toolName, subject, action, by, why } = entry;
        const shortSubject = subject.slice(0, limits.auditTextCharsMax);
        insert.run(atMs, sessionId, runId, toolCallId, toolName, shortSubject, action, by, why.slice(0, limits.auditTextCharsMax));
        trim.run(limits.auditRowsMax);
      },
    },
  };
}
