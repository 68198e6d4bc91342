import { inScope, type Scope } from '../../core/scope.js';
import type { ServedEngine } from '../../engine/engine.js';
import type { DurableEvent } from '../../protocol/events.js';
import { limits } from '../../protocol/limits.js';
import type { LoggedEvent } from '../../store/event-log.js';
import { createLineCache } from './line-cache.js';
import { toLogLine, type LogLine } from './log-line.js';

export interface LogPage {
  lines: LogLine[];
  more: boolean;
}

/**
 * The log as lines. The newest are encoded when they are first read and kept within a bound, so that whoever keeps up costs no reading;
 * older ones are read from the store. A long line is always made of its row: whoever has written a part of it finds the same bytes later.
 */
export function createLogLines({ store: { log }, onCommitted }: Pick<ServedEngine, 'store' | 'onCommitted'>) {
  /** Long ones are not kept: of them only where they stand is known here. */
  let tail: (LogLine | { seq: number; sessionId: string; bytes: number; pieces?: undefined })[] = [];
  let tailBytes = 0;
  /** Every line above this seq is in the tail. */
  let tailFrom = log.head();
  const readLines = createLineCache(limits.eventCacheBytesMax);

  /** Just committed and not in the tail yet: whoever made the commit is answered before its lines are encoded for others. */
  let unencoded: DurableEvent[] = [];

  onCommitted((events) => {
    unencoded.push(...events);
    if (unencoded.length >= tuning.unencodedMax) encodeTail();
  });

  function encodeTail(): void {
    for (const event of unencoded) {
      const line = isLong(event) ? undefined : toLogLine(event);
      const kept = line?.pieces.length === 1 ? line : { seq: event.seq, sessionId: event.payload.session_id, bytes: tuning.longTailBytes };
      tail.push(kept);
      tailBytes += kept.bytes;
    }
    unencoded = [];
    if (tailBytes > limits.eventTailBytesMax * 8) trimTail();
  }

  function lineOf(event: LoggedEvent): LogLine {
    const known = readLines.get(event.seq);
    if (known) return known;
    const line = toLogLine(event.read());
    readLines.add(line);
    return line;
  }

  /** Within a page each line is read and encoded; a page ends at a bound of rows or bytes. */
  function toPage(events: Iterable<LoggedEvent>): LogPage {
    const lines: LogLine[] = [];
    let bytes = 0;
    for (const event of events) {
      if (lines.length === limits.eventPageRowsMax || bytes > limits.eventPageBytesMax) return { lines, more: true };
      const line = lineOf(event);
      lines.push(line);
      bytes += line.bytes;
    }
    return { lines, more: false };
  }

  function lineAt(seq: number): LogLine | undefined {
    const known = readLines.get(seq);
    if (known) return known;
    const event = log.at(seq);
    return event && lineOf({ seq, read: () => event });
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
    /** The newest committed position. */
    head: log.head,
    /** A page of what stands after a cursor. */
    readAfter(scope: Scope, after: number): LogPage {
      if (after >= log.head()) return { lines: [], more: false };
      if (unencoded.length > 0) encodeTail();
      return after < tailFrom ? toPage(log.after(scope, after, limits.eventPageRowsMax + 1)) : pageOfTail(scope, after);
    },
    /** A page of the events of some runs between two positions. */
    readRuns(runIds: string[], after: number, upTo: number): LogPage {
      return toPage(log.ofRuns(runIds, after, upTo, limits.eventPageRowsMax + 1));
    },
    /** Undefined when it was deleted. */
    lineAt,
    /** Called when readers have been served: what was just committed is kept for them until then, encoded once. */
    trim(): void {
      if (unencoded.length > 0) encodeTail();
      if (tailBytes > limits.eventTailBytesMax) trimTail();
    },
  };
}
export type LogLines = ReturnType<typeof createLogLines>;

const tuning = {
  /** What a long line counts for in the tail, which does not have its bytes. */
  longTailBytes: 256,
  unencodedMax: 16,
} as const;

/** True when the line is surely long. To know it of the others they have to be encoded. */
function isLong({ payload }: DurableEvent): boolean {
  const { message, result, input } = payload as { message?: { text?: string }; result?: unknown; input?: { text?: string } };
  const texts = [message?.text, result, input?.text];
  return texts.some((text) => typeof text === 'string' && text.length >= limits.eventPieceBytes);
}
