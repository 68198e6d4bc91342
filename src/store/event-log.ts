import { inScope, type Scope } from '../core/scope.js';
import type { DurableEvent, DurableType, Fact } from '../protocol/events.js';
import { limits } from '../protocol/limits.js';
import type { EventBodies } from './event-bodies.js';
import { createLineCache, toLogLine, type LogLine } from './log-lines.js';
import type { MetaRows } from './meta-rows.js';
import type { Database } from './sqlite.js';

interface EventRow {
  seq: number;
  session_id: string;
  type: DurableType;
  payload: string;
  at_ms: number;
}

export interface LogPage {
  lines: LogLine[];
  more: boolean;
}

/**
 * The log: append within a transaction, read after a cursor. The newest lines are kept encoded, within a bound. A long line is always
 * made of its row: whoever has written a part of it finds the same bytes later.
 */
export function createEventLog(db: Database, bodies: EventBodies, meta: MetaRows) {
  const insert = db.prepare<[number, string, string | null, string, string, number]>(
    'INSERT INTO event (seq, session_id, run_id, type, version, payload, at_ms) VALUES (?, ?, ?, ?, 1, ?, ?)',
  );
  const columns = 'SELECT seq, session_id, type, payload, at_ms FROM event';
  const afterAll = db.prepare<[number, number], EventRow>(`${columns} WHERE seq > ? ORDER BY seq LIMIT ?`);
  const afterSession = db.prepare<[string, number, number], EventRow>(`${columns} WHERE session_id = ? AND seq > ? ORDER BY seq LIMIT ?`);
  // By the index of the session: the log has none for runs, which nearly every commit would have to write.
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
  const firstSince = db.prepare<[number], number>('SELECT seq FROM event WHERE at_ms >= ? ORDER BY seq LIMIT 1').pluck();
  const prune = db.prepare<[number, number]>(
    `DELETE FROM event WHERE seq IN (SELECT seq FROM event WHERE seq <= ?
       AND (run_id IS NULL OR run_id NOT IN (SELECT id FROM run WHERE ended_seq IS NULL)) ORDER BY seq LIMIT ?)`,
  );

  /** Long ones are not kept: of them only where they stand is known here. */
  let tail: (LogLine | { seq: number; sessionId: string; bytes: number; pieces?: undefined })[] = [];
  let tailBytes = 0;
  const readLines = createLineCache(limits.eventCacheBytesMax);
  // When even the newest event was pruned, the floor stands where it was: no position is used twice.
  let head = Math.max(newest.get() ?? 0, floor());
  /** Every line above this seq is in the tail. */
  let tailFrom = head;

  function floor(): number {
    return Number(meta.read.get('log_floor') ?? 0);
  }

  function fromRow(row: EventRow): DurableEvent {
    const payload = bodies.fill(row.type, JSON.parse(row.payload) as Record<string, unknown>);
    return { seq: row.seq, type: row.type, ts: new Date(row.at_ms).toISOString(), payload } as DurableEvent;
  }

  function lineOf(row: EventRow): LogLine {
    const known = readLines.get(row.seq);
    if (known) return known;
    const line = toLogLine(fromRow(row));
    readLines.add(line);
    return line;
  }

  /** Within a page each line is read and encoded; a page ends at a bound of rows or bytes. */
  function toPage(rows: Iterable<EventRow>): LogPage {
    const lines: LogLine[] = [];
    let bytes = 0;
    for (const row of rows) {
      if (lines.length === limits.eventPageRowsMax || bytes > limits.eventPageBytesMax) return { lines, more: true };
      const line = lineOf(row);
      lines.push(line);
      bytes += line.bytes;
    }
    return { lines, more: false };
  }

  function lineAt(seq: number): LogLine | undefined {
    const known = readLines.get(seq);
    if (known) return known;
    const row = bySeq.get(seq);
    return row && lineOf(row);
  }

  function pageOfTail(scope: Scope, after: number): LogPage {
    const lines: LogLine[] = [];
    for (let at = firstInTail(after); at < tail.length; at++) {
      const line = tail[at];
      if (!line || !inScope(scope, line.sessionId)) continue;
      if (line.pieces) {
        lines.push(line);
        continue;
      }
      const long = lineAt(line.seq);
      if (!long) continue;
      lines.push(long);
      return { lines, more: at + 1 < tail.length };
    }
    return { lines, more: false };
  }

  function trimTail(): void {
    let drop = 0;
    while (tailBytes > limits.eventTailBytesMax && drop < tail.length - 1) tailBytes -= tail[drop++]?.bytes ?? 0;
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
    read: {
      /** The newest committed position. */
      head: (): number => head,
      /** Cursors below this have lost events to pruning. */
      floor,
      /** Which log the positions are of; undefined in a store that no daemon has used. */
      id: (): string | undefined => meta.read.get('log_id'),
      /** Called when readers have been served: what was just committed is kept for them until then, encoded once. */
      trim(): void {
        if (tailBytes > limits.eventTailBytesMax) trimTail();
      },
      /** A page of what stands after a cursor. */
      readAfter(scope: Scope, after: number): LogPage {
        if (after >= head) return { lines: [], more: false };
        if (after < tailFrom) {
          const rowsMax = limits.eventPageRowsMax + 1;
          return toPage(scope.all ? afterAll.iterate(after, rowsMax) : afterSession.iterate(scope.sessionId, after, rowsMax));
        }
        return pageOfTail(scope, after);
      },
      /** Undefined when it was deleted. */
      lineAt,
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
      lastSeqOf: (scope: Scope): number => (scope.all ? head : (lastOfSession.get(scope.sessionId) ?? 0)),
      /** Whole events after a position, for checking that rows are what the log folds to. */
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
      /** Called after COMMIT with what it made true. */
      committed(events: readonly DurableEvent[]): void {
        for (const event of events) {
          const line = isLong(event) ? undefined : toLogLine(event);
          const kept = line?.pieces.length === 1 ? line : { seq: event.seq, sessionId: event.payload.session_id, bytes: longTailBytes };
          tail.push(kept);
          tailBytes += kept.bytes;
          head = event.seq;
        }
        if (tailBytes > limits.eventTailBytesMax * 8) trimTail();
      },
      /** Deletes a batch of what is too old or too much, never of runs in progress. True when there is more to do. */
      prune(nowMs: number): boolean {
        // Up to the first young row: one that was written under a wrong clock takes no other with it.
        const firstYoung = firstSince.get(nowMs - limits.logAgeMs) ?? head + 1;
        const cutoff = Math.max(head - limits.logEventsMax, firstYoung - 1);
        if (cutoff <= 0) return false;
        const { changes } = prune.run(cutoff, limits.pruneBatchRows);
        if (changes > 0) meta.write.set('log_floor', String(Math.max(cutoff, floor())));
        return changes === limits.pruneBatchRows;
      },
    },
  };
}

/** What a long line counts for in the tail, which does not have its bytes. */
const longTailBytes = 256;

/** True when the line is surely long. To know it of the others they have to be encoded. */
function isLong({ payload }: DurableEvent): boolean {
  const { message, result, input } = payload as { message?: { text?: string }; result?: unknown; input?: { text?: string } };
  const texts = [message?.text, result, input?.text];
  return texts.some((text) => typeof text === 'string' && text.length >= limits.eventPieceBytes);
}
