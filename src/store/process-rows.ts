import type { Database } from './sqlite.js';

export interface ProcessRow {
  pid: number;
  /** Clock ticks from the machine's boot to the start of the process. */
  startTime: number;
  sessionId: string;
  runId: string;
  toolCallId: string;
}

interface Row {
  pid: number;
  start_time: number;
  session_id: string;
  run_id: string;
  tool_call_id: string;
}

/** Children that run now, and after a crash those that may still do. Callers own the transaction. */
export function createProcessRows(db: Database, bootId: string) {
  const insert = db.prepare(
    'INSERT OR REPLACE INTO process (pid, start_time, boot_id, session_id, run_id, tool_call_id) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const remove = db.prepare('DELETE FROM process WHERE pid = ? AND start_time = ?');
  const left = db.prepare<[string], Row>('SELECT * FROM process WHERE boot_id <> ?');
  return {
    add({ pid, startTime, sessionId, runId, toolCallId }: ProcessRow): void {
      insert.run(pid, startTime, bootId, sessionId, runId, toolCallId);
    },
    remove(pid: number, startTime: number): void {
      remove.run(pid, startTime);
    },
    /** Those of daemons before this one. */
    left: (): ProcessRow[] =>
      left.all(bootId).map(({ pid, start_time, session_id, run_id, tool_call_id }) => ({
        pid,
        startTime: start_time,
        sessionId: session_id,
        runId: run_id,
        toolCallId: tool_call_id,
      })),
  };
}
