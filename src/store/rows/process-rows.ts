import type { Database } from '../sqlite.js';

export interface ProcessRow {
  pid: number;
  /** Clock ticks from the machine's start to that of the process. */
  startTime: number;
  /** Which start of the machine that is. */
  bootId: string;
  /** What all its descendants carry. */
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

/** Children that run now, and after a crash those that may still do. Callers own the transaction. */
export function createProcessRows(db: Database, daemonBootId: string) {
  const insert = db.prepare(
    `INSERT OR REPLACE INTO process (pid, start_time, boot_id, machine_boot_id, marker, session_id, run_id, tool_call_id)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const remove = db.prepare('DELETE FROM process WHERE pid = ? AND start_time = ?');
  const left = db.prepare<[string], Row>('SELECT * FROM process WHERE boot_id <> ?');
  return {
    read: {
      /** Those of daemons before this one. */
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
      /** A row that is there already is replaced. */
      put({ pid, startTime, bootId, marker, sessionId, runId, toolCallId }: ProcessRow): void {
        insert.run(pid, startTime, daemonBootId, bootId, marker, sessionId, runId, toolCallId);
      },
      remove(pid: number, startTime: number): void {
        remove.run(pid, startTime);
      },
    },
  };
}
