import assert from 'node:assert/strict';
import type { ActiveRun, LastRun, OpenCall, Turn } from '../../core/session.js';
import { toolCallsOf } from '../../protocol/content.js';
import type { EventPayload, RunError, RunOutcome } from '../../protocol/events.js';
import type { Role, Usage } from '../../protocol/messages.js';
import type { RunRow } from '../../protocol/views.js';
import type { Database } from '../sqlite.js';

interface RunRecord {
  id: string;
  session_id: string;
  boot_id: string;
  resumes: string | null;
  attempts: number;
  aborting: number;
  turns: number;
  turn: string | null;
  message_id: string | null;
  message_role: string | null;
  outcome: string | null;
  error: string | null;
  usage: string | null;
  usage_before: string | null;
  started_seq: number;
  started_ms: number;
  ended_seq: number | null;
  ended_ms: number | null;
  abandoned: number;
}

interface CallRecord {
  id: string;
  place: number;
  name: string;
  args: string;
  started: number;
  title: string | null;
  problem: string | null;
}

/** Runs and the open calls of their turns. Callers own the transaction. */
export function createRunRows(db: Database) {
  const byId = db.prepare<[string], RunRecord>('SELECT * FROM run WHERE id = ?');
  const active = db.prepare<[string], RunRecord>('SELECT * FROM run WHERE session_id = ? AND ended_seq IS NULL');
  const activeHead = db.prepare<[string], { id: string; aborting: number }>(
    'SELECT id, aborting FROM run WHERE session_id = ? AND ended_seq IS NULL',
  );
  const streaming = db.prepare<[string], number>('SELECT 1 FROM run WHERE message_id = ? AND ended_seq IS NULL').pluck();
  const allActive = db.prepare<[], RunRecord>('SELECT * FROM run WHERE ended_seq IS NULL ORDER BY started_seq');
  const last = db.prepare<[string], Pick<RunRecord, 'id' | 'outcome' | 'error' | 'abandoned'>>(
    `SELECT id, outcome, error, abandoned FROM run WHERE session_id = ? AND ended_seq IS NOT NULL AND turns > 0
     ORDER BY started_seq DESC LIMIT 1`,
  );
  const pageBefore = db.prepare<[string, number, number], RunRecord>(
    'SELECT * FROM run WHERE session_id = ? AND started_seq < ? ORDER BY started_seq DESC LIMIT ?',
  );
  const endedSince = db.prepare<[number], { id: string }>('SELECT id FROM run WHERE ended_ms >= ?');
  const start = db.prepare(
    `INSERT INTO run (id, session_id, boot_id, resumes, attempts, started_seq, started_ms, usage_before)
     VALUES (?, ?, ?, ?, ?, ?, ?, (SELECT usage FROM session WHERE id = ?))`,
  );
  const end = db.prepare(
    'UPDATE run SET outcome = ?, error = ?, usage = ?, ended_seq = ?, ended_ms = ? WHERE id = ? AND ended_seq IS NULL',
  );
  const abort = db.prepare('UPDATE run SET aborting = 1, error = ? WHERE id = ?');
  const abandon = db.prepare('UPDATE run SET abandoned = 1 WHERE id = ?');
  const setTurn = db.prepare('UPDATE run SET turn = ?, turns = turns + ? WHERE id = ?');
  const setMessage = db.prepare('UPDATE run SET message_id = ?, message_role = ? WHERE id = ?');
  const calls = db.prepare<[string], CallRecord>(
    'SELECT id, place, name, args, started, title, problem FROM tool_call WHERE run_id = ? ORDER BY place',
  );
  const addCall = db.prepare('INSERT INTO tool_call (run_id, id, place, name, args, problem) VALUES (?, ?, ?, ?, ?, ?)');
  const startCall = db.prepare('UPDATE tool_call SET started = 1, title = ? WHERE run_id = ? AND id = ?');
  const dropCall = db.prepare('DELETE FROM tool_call WHERE run_id = ? AND id = ?');
  const dropCalls = db.prepare('DELETE FROM tool_call WHERE run_id = ?');
  const adopt = db.prepare('UPDATE run SET boot_id = ? WHERE id = ?');

  function openCalls(runId: string): OpenCall[] {
    return calls.all(runId).map(({ id, place, name, args, started, title, problem }) => ({
      id,
      place,
      name,
      args: JSON.parse(args) as Record<string, unknown>,
      started: started === 1,
      title,
      problem,
    }));
  }

  function toActive(row: RunRecord): ActiveRun {
    return {
      id: row.id,
      aborting: row.aborting === 1,
      abortReason: row.aborting === 1 ? (parseError(row.error)?.message ?? null) : null,
      turns: row.turns,
      turn: row.turn === null ? null : (JSON.parse(row.turn) as Turn),
      message: row.message_id === null ? null : { id: row.message_id, role: row.message_role as Role },
      calls: openCalls(row.id),
      usageBefore: parseUsage(row.usage_before),
    };
  }

  function changeTurn(runId: string, change: Partial<Turn>): void {
    const turn = byId.get(runId)?.turn;
    if (turn) setTurn.run(JSON.stringify({ ...(JSON.parse(turn) as Turn), ...change }), 0, runId);
  }

  return {
    read: {
      find(runId: string): RunRow | undefined {
        const row = byId.get(runId);
        return row && toRunRow(row);
      },
      active(sessionId: string): ActiveRun | null {
        const row = active.get(sessionId);
        return row ? toActive(row) : null;
      },
      /** `active` without turn and calls: cheap enough for every wake. */
      activeHead(sessionId: string): { id: string; aborting: boolean } | undefined {
        const row = activeHead.get(sessionId);
        return row && { id: row.id, aborting: row.aborting === 1 };
      },
      /** Whether a message is still streaming. */
      isStreaming: (messageId: string): boolean => streaming.get(messageId) !== undefined,
      allActive: (): { runId: string; sessionId: string; bootId: string; attempts: number }[] =>
        allActive.all().map(({ id, session_id, boot_id, attempts }) => ({ runId: id, sessionId: session_id, bootId: boot_id, attempts })),
      last(sessionId: string): LastRun | null {
        const row = last.get(sessionId);
        if (!row) return null;
        return { id: row.id, outcome: row.outcome as RunOutcome, error: parseError(row.error), abandoned: row.abandoned === 1 };
      },
      page(sessionId: string, before: string | undefined, limit: number): { runs: RunRow[]; hasMore: boolean } {
        const from = before === undefined ? Number.MAX_SAFE_INTEGER : (byId.get(before)?.started_seq ?? 0);
        const rows = pageBefore.all(sessionId, from, limit + 1);
        return { runs: rows.slice(0, limit).map(toRunRow), hasMore: rows.length > limit };
      },
      /** Runs to replay for a client of protocol version 1: active ones, and those that ended since. */
      recent(sinceMs: number): string[] {
        return [...allActive.all(), ...endedSince.all(sinceMs)].map(({ id }) => id);
      },
    },
    write: {
      start(payload: EventPayload<'agent_start'>, bootId: string, seq: number, atMs: number): void {
        const resumed = payload.resumes === undefined ? undefined : byId.get(payload.resumes);
        const attempts = resumed?.outcome === 'interrupted' ? resumed.attempts + 1 : 0;
        start.run(payload.run_id, payload.session_id, bootId, payload.resumes ?? null, attempts, seq, atMs, payload.session_id);
      },
      end({ run_id, outcome, error, usage }: EventPayload<'agent_end'>, seq: number, atMs: number): void {
        dropCalls.run(run_id);
        const { changes } = end.run(outcome, toJson(error), toJson(usage), seq, atMs, run_id);
        assert.equal(changes, 1, 'a run ends once');
      },
      /** The column `error` of a run that is being aborted has the reason of the abort. */
      abort(runId: string, reason: string | null): void {
        abort.run(reason === null ? null : toJson({ code: 'aborted', message: reason } satisfies RunError), runId);
      },
      abandon(runId: string): void {
        abandon.run(runId);
      },
      startTurn({ run_id, turn_id, kind, input_ids }: EventPayload<'turn_start'>): void {
        const turn: Turn = { id: turn_id, kind, inputIds: input_ids, responded: false, callsMade: 0 };
        setTurn.run(JSON.stringify(turn), 1, run_id);
      },
      endTurn(runId: string): void {
        dropCalls.run(runId);
        setTurn.run(null, 0, runId);
      },
      startMessage({ run_id, message_id, role }: EventPayload<'message_start'>): void {
        setMessage.run(message_id, role, run_id);
      },
      endMessage({ run_id, role, message, reason }: EventPayload<'message_end'>): void {
        setMessage.run(null, null, run_id);
        if (role !== 'assistant' || (!message && reason !== 'empty')) return;
        const made = toolCallsOf(message?.content ?? []);
        for (const [place, { id, name, arguments: args, problem }] of made.entries()) {
          addCall.run(run_id, id, place, name, JSON.stringify(args), problem ?? null);
        }
        changeTurn(run_id, { responded: true, callsMade: made.length });
      },
      startCall({ run_id, tool_call_id, title }: EventPayload<'tool_execution_start'>): void {
        startCall.run(title, run_id, tool_call_id);
      },
      endCall(runId: string, callId: string): void {
        dropCall.run(runId, callId);
      },
      /** Recovery: a parked run goes on under the new daemon. */
      adopt(runId: string, bootId: string): void {
        adopt.run(bootId, runId);
      },
    },
  };
}
export type RunRows = ReturnType<typeof createRunRows>;

function parseError(json: string | null): RunError | null {
  return json === null ? null : (JSON.parse(json) as RunError);
}

function parseUsage(json: string | null): Usage | null {
  return json === null ? null : (JSON.parse(json) as Usage);
}

function toJson(value: unknown): string | null {
  return value === null ? null : JSON.stringify(value);
}

function toRunRow(row: RunRecord): RunRow {
  return {
    run_id: row.id,
    session_id: row.session_id,
    state: row.ended_seq !== null ? 'ended' : row.aborting === 1 ? 'aborting' : 'running',
    outcome: row.outcome as RunOutcome | null,
    error: parseError(row.error),
    resumes: row.resumes,
    turns: row.turns,
    started_at: new Date(row.started_ms).toISOString(),
    ended_at: row.ended_ms === null ? null : new Date(row.ended_ms).toISOString(),
    usage: parseUsage(row.usage),
  };
}
