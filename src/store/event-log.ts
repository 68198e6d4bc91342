import type { DurableEvent, DurableType, Fact } from '../protocol/events.js';
import { encodeDurable } from '../protocol/encode.js';
import { limits } from '../protocol/limits.js';
import type { EventBodies } from './event-bodies.js';
import type { MetaRows } from './meta-rows.js';
import type { Database } from './sqlite.js';

interface EventRow {
  seq: number;
  session_id: string;
  type: DurableType;
  payload: string;
  at_ms: number;
}

/** A durable event as subscribers need it: where it stands, whom it concerns, and its bytes, made once for all of them. */
export interface LogLine {
  seq: number;
  sessionId: string;
  type: DurableType;
  messageId: string | undefined;
  role: string | undefined;
  runId: string | undefined;
  turnId: string | undefined;
  deleted: boolean;
  line: Buffer;
}

export interface LogPage {
  lines: LogLine[];
  more: boolean;
}

/** Bytes in memory of their own: small buffers usually share a block with others, and one that is kept would keep all of it. */
function toOwnBytes(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
}

/** The log: append within a transaction, read after a cursor. The newest lines are kept encoded, within a bound. */
export function createEventLog(db: Database, bodies: EventBodies, meta: MetaRows) {
  const insert = db.prepare<[number, string, string | null, string, string, number]>(
    'INSERT INTO event (seq, session_id, run_id, type, version, payload, at_ms) VALUES (?, ?, ?, ?, 1, ?, ?)',
  );
  const columns = 'SELECT seq, session_id, type, payload, at_ms FROM event';
  const afterAll = db.prepare<[number, number], EventRow>(`${columns} WHERE seq > ? ORDER BY seq LIMIT ?`);
  const afterSession = db.prepare<[string, number, number], EventRow>(`${columns} WHERE session_id = ? AND seq > ? ORDER BY seq LIMIT ?`);
  const ofRun = db.prepare<[string, number, number], EventRow>(`${columns} WHERE run_id = ? AND seq <= ? ORDER BY seq DESC LIMIT ?`);
  const ofRuns = db.prepare<[string, number, number, number], EventRow>(
    `${columns} WHERE run_id IN (SELECT value FROM json_each(?)) AND seq > ? AND seq <= ? ORDER BY seq LIMIT ?`,
  );
  const firstOfType = db.prepare<[string, number, string], EventRow>(
    `${columns} WHERE session_id = ? AND seq > ? AND type = ? ORDER BY seq LIMIT 1`,
  );
  const lastOfSession = db.prepare<[string], number | null>('SELECT max(seq) FROM event WHERE session_id = ?').pluck();
  const newest = db.prepare<[], number | null>('SELECT max(seq) FROM event').pluck();
  const firstSince = db.prepare<[number], number>('SELECT seq FROM event WHERE at_ms >= ? ORDER BY seq LIMIT 1').pluck();
  const prune = db.prepare<[number, number]>(
    `DELETE FROM event WHERE seq IN (SELECT seq FROM event WHERE seq <= ?
       AND (run_id IS NULL OR run_id NOT IN (SELECT id FROM run WHERE ended_seq IS NULL)) ORDER BY seq LIMIT ?)`,
  );

  let tail: LogLine[] = [];
  let tailBytes = 0;
  // When even the newest event was pruned, the floor stands where it was: no position is used twice.
  let head = Math.max(newest.get() ?? 0, floor());
  /** Every line above this seq is in the tail. */
  let tailFrom = head;

  function floor(): number {
    return Number(meta.get('log_floor') ?? 0);
  }

  function toLine(event: DurableEvent): LogLine {
    const payload = event.payload as Partial<Record<'message_id' | 'role' | 'run_id' | 'turn_id', string>> & { deleted?: true };
    return {
      seq: event.seq,
      sessionId: event.payload.session_id,
      type: event.type,
      messageId: payload.message_id,
      role: payload.role,
      runId: payload.run_id,
      turnId: payload.turn_id,
      deleted: payload.deleted === true,
      line: toOwnBytes(`${encodeDurable(event)}\n`),
    };
  }

  function fromRow(row: EventRow): DurableEvent {
    const payload = bodies.fill(row.type, JSON.parse(row.payload) as Record<string, unknown>);
    return { seq: row.seq, type: row.type, ts: new Date(row.at_ms).toISOString(), payload } as DurableEvent;
  }

  /** Within a page each line is read and encoded; a page ends at a bound of rows or bytes. */
  function toPage(rows: Iterable<EventRow>): LogPage {
    const lines: LogLine[] = [];
    let bytes = 0;
    for (const row of rows) {
      if (lines.length === limits.eventPageRowsMax || bytes > limits.eventPageBytesMax) return { lines, more: true };
      const line = toLine(fromRow(row));
      lines.push(line);
      bytes += line.line.length;
    }
    return { lines, more: false };
  }

  function trimTail(): void {
    let drop = 0;
    while (tailBytes > limits.eventTailBytesMax && drop < tail.length - 1) tailBytes -= tail[drop++]?.line.length ?? 0;
    tailFrom = tail[drop - 1]?.seq ?? tailFrom;
    tail = tail.slice(drop);
  }

  function firstInTail(after: number): number {
    let low = 0;
    let high = tail.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((tail[middle]?.seq ?? 0) > after) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  return {
    /** The newest committed position. */
    head: (): number => head,
    /** Cursors below this have lost events to pruning. */
    floor,
    append(fact: Fact, seq: number, atMs: number): DurableEvent {
      const { session_id, run_id } = fact.payload as { session_id: string; run_id?: string };
      insert.run(seq, session_id, run_id ?? null, fact.type, JSON.stringify(bodies.slim(fact)), atMs);
      return { ...fact, seq, ts: new Date(atMs).toISOString() };
    },
    /** Called after COMMIT with what it made true. */
    committed(events: readonly DurableEvent[]): void {
      for (const event of events) {
        const line = toLine(event);
        tail.push(line);
        tailBytes += line.line.length;
        head = event.seq;
      }
      if (tailBytes > limits.eventTailBytesMax * 8) trimTail();
    },
    /** Called when readers have been served: what was just committed is kept for them until then, encoded once. */
    trim(): void {
      if (tailBytes > limits.eventTailBytesMax) trimTail();
    },
    /** A page of what stands after a cursor, of one session or of all (`*`). */
    readAfter(sessionId: string, after: number): LogPage {
      if (after >= head) return { lines: [], more: false };
      if (after < tailFrom) {
        const rows =
          sessionId === '*'
            ? afterAll.iterate(after, limits.eventPageRowsMax + 1)
            : afterSession.iterate(sessionId, after, limits.eventPageRowsMax + 1);
        return toPage(rows);
      }
      const from = firstInTail(after);
      const lines = sessionId === '*' ? tail.slice(from) : tail.slice(from).filter((line) => line.sessionId === sessionId);
      return { lines, more: false };
    },
    /** The newest events of a run up to a position, oldest first. */
    ofRun(runId: string, upTo: number, limit: number): DurableEvent[] {
      return ofRun.all(runId, upTo, limit).reverse().map(fromRow);
    },
    /** A page of the events of some runs between two positions. */
    readRuns(runIds: string[], after: number, upTo: number): LogPage {
      return toPage(ofRuns.iterate(JSON.stringify(runIds), after, upTo, limits.eventPageRowsMax + 1));
    },
    /** The first event of a type after a position. */
    firstOf<T extends DurableType>(sessionId: string, type: T, after: number): (DurableEvent & { type: T }) | undefined {
      const row = firstOfType.get(sessionId, after, type);
      return row && (fromRow(row) as DurableEvent & { type: T });
    },
    lastSeqOf: (sessionId: string): number => (sessionId === '*' ? head : (lastOfSession.get(sessionId) ?? 0)),
    /** Whole events after a position, for checking that rows are what the log folds to. */
    *replay(sessionId: string): Generator<DurableEvent> {
      for (const row of afterSession.iterate(sessionId, 0, Number.MAX_SAFE_INTEGER)) yield fromRow(row);
    },
    /** Deletes a batch of what is too old or too much, never of runs in progress. True when there is more to do. */
    prune(nowMs: number): boolean {
      // Up to the first young row: one that was written under a wrong clock takes no other with it.
      const firstYoung = firstSince.get(nowMs - limits.logAgeMs) ?? head + 1;
      const cutoff = Math.max(head - limits.logEventsMax, firstYoung - 1);
      if (cutoff <= 0) return false;
      const { changes } = prune.run(cutoff, limits.pruneBatchRows);
      if (changes > 0) meta.set('log_floor', String(Math.max(cutoff, floor())));
      return changes === limits.pruneBatchRows;
    },
  };
}
