import type { Scope } from '../core/scope.js';
import type { DurableEvent, DurableType, Fact } from '../protocol/events.js';
import { limits } from '../protocol/limits.js';
import type { EventBodies } from './event-bodies.js';
import type { MetaRows } from './rows/meta-rows.js';
import type { Database } from './sqlite.js';

interface EventRow {
  seq: number;
  session_id: string;
  type: DurableType;
  payload: string;
  at_ms: number;
}

/** How much of the log is kept. */
export interface LogRetention {
  logAgeMs: number;
  logEvents: number;
}

/** An event of the log, read lazily: `read` joins the rows that the payload refers to. */
export interface LoggedEvent {
  seq: number;
  read(): DurableEvent;
}

/** The log: append within a transaction, read after a cursor. */
export function createEventLog(db: Database, bodies: EventBodies, meta: MetaRows) {
  const insert = db.prepare<[number, string, string | null, string, string, number]>(
    'INSERT INTO event (seq, session_id, run_id, type, version, payload, at_ms) VALUES (?, ?, ?, ?, 1, ?, ?)',
  );
  const columns = 'SELECT seq, session_id, type, payload, at_ms FROM event';
  const afterAll = db.prepare<[number, number], EventRow>(`${columns} WHERE seq > ? ORDER BY seq LIMIT ?`);
  const afterSession = db.prepare<[string, number, number], EventRow>(`${columns} WHERE session_id = ? AND seq > ? ORDER BY seq LIMIT ?`);
  // Uses the index on session_id: an index on run_id would cost a write in nearly every commit.
  const inRuns = `SELECT e.seq, e.session_id, e.type, e.payload, e.at_ms FROM run r JOIN event e ON e.session_id = r.session_id
    AND e.run_id = r.id AND e.seq BETWEEN r.started_seq AND coalesce(r.ended_seq, ${Number.MAX_SAFE_INTEGER})`;
  const ofRun = db.prepare<[string, number, number], EventRow>(`${inRuns} WHERE r.id = ? AND e.seq <= ? ORDER BY e.seq DESC LIMIT ?`);
  const ofRuns = db.prepare<[string, number, number, number], EventRow>(
    `${inRuns} WHERE r.id IN (SELECT value FROM json_each(?)) AND e.seq > ? AND e.seq <= ? ORDER BY e.seq LIMIT ?`,
  );
  const bySeq = db.prepare<[number], EventRow>(`${columns} WHERE seq = ?`);
  const firstOfType = db.prepare<[string, number, string], EventRow>(
    `${columns} WHERE session_id = ? AND seq > ? AND type = ? ORDER BY seq LIMIT 1`,
  );
  const lastOfSession = db.prepare<[string], number | null>('SELECT max(seq) FROM event WHERE session_id = ?').pluck();
  const newest = db.prepare<[], number | null>('SELECT max(seq) FROM event').pluck();
  const oldest = db.prepare<[number, number], { seq: number; at_ms: number }>(
    'SELECT seq, at_ms FROM event WHERE seq > ? ORDER BY seq LIMIT ?',
  );
  const prune = db.prepare<[number, number]>(
    `DELETE FROM event WHERE seq BETWEEN ? AND ?
       AND (run_id IS NULL OR run_id NOT IN (SELECT id FROM run WHERE ended_seq IS NULL))`,
  );
  /** Up to where this pass of pruning has come: events of active runs are passed by once, not for each batch. */
  let prunedTo = 0;

  // The floor counts when even the newest event was pruned: no seq is ever reused.
  let head = Math.max(newest.get() ?? 0, floor());

  function floor(): number {
    return Number(meta.read.get('log_floor') ?? 0);
  }

  function fromRow(row: EventRow): DurableEvent {
    const payload = bodies.fill(row.type, JSON.parse(row.payload) as Record<string, unknown>);
    return { seq: row.seq, type: row.type, ts: new Date(row.at_ms).toISOString(), payload } as DurableEvent;
  }

  function* toLogged(rows: Iterable<EventRow>): Generator<LoggedEvent> {
    for (const row of rows) yield { seq: row.seq, read: () => fromRow(row) };
  }

  return {
    read: {
      /** The newest committed seq. */
      head: (): number => head,
      /** Cursors below this seq have expired: their next events were pruned. */
      floor,
      /** The id of this log, for cursors; undefined in a database that no daemon has used. */
      id: (): string | undefined => meta.read.get('log_id'),
      /** At most `rowsMax` events after a position, in order. */
      after(scope: Scope, after: number, rowsMax: number): Iterable<LoggedEvent> {
        return toLogged(scope.all ? afterAll.iterate(after, rowsMax) : afterSession.iterate(scope.sessionId, after, rowsMax));
      },
      /** Undefined when the event was deleted. */
      at(seq: number): DurableEvent | undefined {
        const row = bySeq.get(seq);
        return row && fromRow(row);
      },
      /** The newest events of a run up to a position, oldest first. */
      ofRun(runId: string, upTo: number, limit: number): DurableEvent[] {
        return ofRun.all(runId, upTo, limit).reverse().map(fromRow);
      },
      /** At most `rowsMax` events of some runs between two positions, in order. */
      ofRuns(runIds: string[], after: number, upTo: number, rowsMax: number): Iterable<LoggedEvent> {
        return toLogged(ofRuns.iterate(JSON.stringify(runIds), after, upTo, rowsMax));
      },
      /** The first event of a type after a position. */
      firstOf<T extends DurableType>(sessionId: string, type: T, after: number): (DurableEvent & { type: T }) | undefined {
        const row = firstOfType.get(sessionId, after, type);
        return row && (fromRow(row) as DurableEvent & { type: T });
      },
      lastSeqOf: (scope: Scope): number => (scope.all ? head : (lastOfSession.get(scope.sessionId) ?? 0)),
      /** All events of a session, to check that the rows are what the log folds to. */
      *replay(sessionId: string): Generator<DurableEvent> {
        for (const row of afterSession.iterate(sessionId, 0, Number.MAX_SAFE_INTEGER)) yield fromRow(row);
      },
    },
    write: {
      setId(id: string): void {
        meta.write.set('log_id', id);
      },
      append(fact: Fact, seq: number, atMs: number): DurableEvent {
        const { session_id, run_id } = fact.payload as { session_id: string; run_id?: string };
        insert.run(seq, session_id, run_id ?? null, fact.type, JSON.stringify(bodies.slim(fact)), atMs);
        return { ...fact, seq, ts: new Date(atMs).toISOString() };
      },
      /** Called after COMMIT with the position of the newest event. */
      committed(seq: number): void {
        head = seq;
      },
      /** Deletes a batch of events beyond the age or size limit of the log, never those of active runs. True when more are left. */
      prune(nowMs: number, kept: LogRetention = { logAgeMs: limits.logAgeMs, logEvents: limits.logEventsMax }): boolean {
        const surplus = head - kept.logEvents;
        const batch = oldest.all(prunedTo, limits.pruneBatchRows);
        // Up to the first young event: an event with the timestamp of a wrong clock does not delete others.
        const young = batch.findIndex(({ seq, at_ms }) => seq > surplus && at_ms >= nowMs - kept.logAgeMs);
        const gone = young === -1 ? batch : batch.slice(0, young);
        const [first, last] = [gone[0], gone.at(-1)];
        const isLast = young !== -1 || batch.length < limits.pruneBatchRows;
        prunedTo = isLast ? 0 : (last?.seq ?? 0);
        if (!first || !last) return false;
        const { changes } = prune.run(first.seq, last.seq);
        const upTo = Math.max(last.seq, Math.min(surplus, (batch[young]?.seq ?? 0) - 1));
        if (changes > 0) meta.write.set('log_floor', String(Math.max(upTo, floor())));
        return !isLast;
      },
    },
  };
}
