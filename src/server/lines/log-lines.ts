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
 * The log as encoded lines. A bounded cache has the newest lines, the tail, so that subscribers that keep up cause no SQL; older lines are
 * read from the store. A long line is always made of its row, so that a cursor that has written a part of it finds the same bytes later.
 */
export function createLogLines({ store: { log }, onCommitted }: Pick<ServedEngine, 'store' | 'onCommitted'>) {
  /** A long line has only its position here, not its bytes. */
  let tail: (LogLine | { seq: number; sessionId: string; bytes: number; pieces?: undefined })[] = [];
  let tailBytes = 0;
  /** Every line above this seq is in the tail. */
  let tailFrom = log.head();
  const readLines = createLineCache(limits.eventCacheBytesMax);

  /** Committed events that are not in the tail yet: the reply to the command is sent before its events are encoded. */
  let unencoded: DurableEvent[] = [];

  onCommitted((events) => {
    unencoded.push(...events);
    if (unencoded.length >= tuning.unencodedMax) encodeTail();
  });

  function encodeTail(): void {
    for (const event of unencoded) {
      const line = isLong(event) ? undefined : toLogLine(event);
      const tailLine =
        line?.pieces.length === 1 ? line : { seq: event.seq, sessionId: event.payload.session_id, bytes: tuning.longTailBytes };
      tail.push(tailLine);
      tailBytes += tailLine.bytes;
    }
    unencoded = [];
    if (tailBytes > limits.eventTailBytesMax * 8) trimTail();
  }

  function lineOf(event: LoggedEvent): LogLine {
    const cached = readLines.get(event.seq);
    if (cached) return cached;
    const line = toLogLine(event.read());
    readLines.add(line);
    return line;
  }

  /** Encodes events up to a bound of rows or bytes. */
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
    const cached = readLines.get(seq);
    if (cached) return cached;
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
    /** The newest committed seq. */
    head: log.head,
    /** A page of lines after a position. */
    readAfter(scope: Scope, after: number): LogPage {
      if (after >= log.head()) return { lines: [], more: false };
      if (unencoded.length > 0) encodeTail();
      return after < tailFrom ? toPage(log.after(scope, after, limits.eventPageRowsMax + 1)) : pageOfTail(scope, after);
    },
    /** A page of the events of some runs between two positions. */
    readRuns(runIds: string[], after: number, upTo: number): LogPage {
      return toPage(log.ofRuns(runIds, after, upTo, limits.eventPageRowsMax + 1));
    },
    /** Undefined when the event was deleted. */
    lineAt,
    /** Trims the tail to its bound. To be called when subscribers were pumped: until then new lines stay in the tail. */
    trim(): void {
      if (unencoded.length > 0) encodeTail();
      if (tailBytes > limits.eventTailBytesMax) trimTail();
    },
  };
}
export type LogLines = ReturnType<typeof createLogLines>;

const tuning = {
  /** The size of a long line in the tail, which has only its position. */
  longTailBytes: 256,
  unencodedMax: 16,
} as const;

/** True when the line is certainly long; otherwise its length is known after encoding. */
function isLong({ payload }: DurableEvent): boolean {
  const { message, result, input } = payload as { message?: { text?: string }; result?: unknown; input?: { text?: string } };
  const texts = [message?.text, result, input?.text];
  return texts.some((text) => typeof text === 'string' && text.length >= limits.eventPieceBytes);
}
