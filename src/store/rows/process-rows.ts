import type { Database } from '../sqlite.js';

export interface ProcessRow {
  pid: number;
  /** Start time of the process, in clock ticks since boot. */
  startTime: number;
  /** The kernel's boot id. */
  bootId: string;
  /** The environment variable that all descendants of the process inherit. */
  marker: string;
  sessionId: string;
  runId: string;
  toolCallId: string;
}

interface Row {
  pid: number;
  start_time: number;
  machine_boot_id: string;
  marker: string;
  session_id: string;
  run_id: string;
  tool_call_id: string;
}

/** Child processes that run, and after a crash those that may be orphans. Callers own the transaction. */
export function createProcessRows(db: Database, daemonBootId: string) {
  const insert = db.prepare(
    `INSERT OR REPLACE INTO process (pid, start_time, boot_id, machine_boot_id, marker, session_id, run_id, tool_call_id)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const remove = db.prepare('DELETE FROM process WHERE pid = ? AND start_time = ?');
  const left = db.prepare<[string], Row>('SELECT * FROM process WHERE boot_id <> ?');
  return {
    read: {
      /** Processes of earlier daemons. */
      left: (): ProcessRow[] =>
        left.all(daemonBootId).map((row) => ({
          pid: row.pid,
          startTime: row.start_time,
          bootId: row.machine_boot_id,
          marker: row.marker,
          sessionId: row.session_id,
          runId: row.run_id,
          toolCallId: row.tool_call_id,
        })),
    },
    write: {
      /** Inserts or replaces a row. */
      put({ pid, startTime, bootId, marker, sessionId, runId, toolCallId }: ProcessRow): void {
        insert.run(pid, startTime, daemonBootId, bootId, marker, sessionId, runId, toolCallId);
      },
      remove(pid: number, startTime: number): void {
        remove.run(pid, startTime);
      },
    },
  };
}
