import type { Scope } from '../core/scope.js';
import type { ServedEngine } from '../engine/engine.js';
import type { LineSink } from './lines/line-sink.js';
import type { Lines } from './lines/lines.js';
import type { LogLine } from './lines/log-line.js';
import type { LogPage } from './lines/log-lines.js';

/** Where a cursor begins. */
export interface CursorStart {
  scope: Scope;
  /** Events with a higher seq are sent. */
  after: number;
  /** The subscriber resumes: it has a view of the session at `after`. */
  fromCursor: boolean;
  /** Messages that end above this seq are live: their text is sent as deltas before their end. */
  liveFrom: number;
  live: boolean;
  /** Replay for a client of protocol version 1: events of active runs, up to a position. */
  prelude: { runIds: string[]; upTo: number } | undefined;
}

export interface LogCursor {
  readonly scope: Scope;
  /** Writes new lines as far as the sink takes them. Cheap when there are none. */
  pump(): void;
  /** Writes the rest of a partly written line, despite backpressure. False when its event was deleted. */
  finishLine(): boolean;
  stop(): void;
}

export interface CursorEvents {
  /** The session was deleted, or the event of a partly written line was. The owner stops the cursor. */
  onEnd(why: 'session_deleted' | 'line_lost'): void;
  /** The agent_end of a run was written. */
  onRunEnd?(runId: string): void;
}

interface Deps {
  engine: ServedEngine;
  lines: Lines;
}

/**
 * One subscriber: a position in the log and an offset into each streaming message, from which the cursor makes the next lines for its sink.
 * The log is the cursor's queue and the streaming message its buffer.
 */
export function createLogCursor(start: CursorStart, sink: LineSink, events: CursorEvents, { engine, lines }: Deps): LogCursor {
  const { log } = lines;
  const { scope } = start;
  let position = start.after;
  let preludeTo = start.prelude ? 0 : Infinity;
  const sent = new Map<string, number[]>();
  const sentOutput = new Map<string, number>();
  /** A long line of which only the first pieces are written. */
  let partialLine: { seq: number; bytes: number; pieces: number } | undefined;
  // Signals have no seq, so that a subscriber that resumes may have missed some: the newest of each key is sent again.
  const joinedAt = engine.signals.version();
  let seenSignals = start.fromCursor && !scope.all ? 0 : joinedAt;
  let scheduled = false;
  let stopped = false;

  function pump(): void {
    if (stopped || !sink.canTake()) return;
    // Cork for a page of lines, not for a single delta: latency.
    const isPage = position < log.head();
    if (isPage) sink.cork?.();
    if (writePrelude() && writeLog() && start.live) writeLive();
    if (isPage) sink.uncork?.();
  }

  /** True when there is no prelude, or all of it is written. */
  function writePrelude(): boolean {
    if (!start.prelude || preludeTo >= start.prelude.upTo) return true;
    const { runIds, upTo } = start.prelude;
    const page = log.readRuns(runIds, preludeTo, upTo);
    if (isLineLost(page)) return false;
    for (const line of page.lines) {
      if (!sink.canTake() || !writeLine(line, true)) return false;
      preludeTo = line.seq;
    }
    if (page.more) {
      scheduleAgain();
      return false;
    }
    preludeTo = upTo;
    return true;
  }

  /** True when the cursor has reached the head. */
  function writeLog(): boolean {
    if (position >= log.head()) return true;
    const head = log.head();
    const page = log.readAfter(scope, position);
    if (isLineLost(page)) return false;
    for (const line of page.lines) {
      if (!sink.canTake() || !writeLine(line, start.live && line.seq > start.liveFrom)) return false;
      position = line.seq;
      if (line.deleted && !scope.all) {
        events.onEnd('session_deleted');
        return false;
      }
    }
    if (page.more) {
      // Fairness: other subscribers are served between two pages.
      scheduleAgain();
      return false;
    }
    position = head;
    return true;
  }

  function scheduleAgain(): void {
    if (scheduled) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      pump();
    });
  }

  /** A partly written line is the first of the next page, unless its event was deleted meanwhile. */
  function isLineLost({ lines }: LogPage): boolean {
    const [next] = lines;
    if (!partialLine || (next?.seq === partialLine.seq && next.bytes === partialLine.bytes)) return false;
    events.onEnd('line_lost');
    return true;
  }

  /** False when the sink did not take all of the line; the progress is kept in `partialLine`. */
  function writeLine(line: LogLine, withText: boolean): boolean {
    if (!partialLine && withText && isAssistantEnd(line) && !writeEndedText(line)) return false;
    if (!writePieces(line)) return false;
    if (line.type === 'message_end' && line.messageId !== undefined) sent.delete(line.messageId);
    if (line.type === 'agent_end' && line.runId !== undefined) events.onRunEnd?.(line.runId);
    return true;
  }

  function isAssistantEnd({ type, role, messageId }: LogLine): boolean {
    return type === 'message_end' && role === 'assistant' && messageId !== undefined;
  }

  function writePieces(line: LogLine): boolean {
    for (let at = partialLine?.pieces ?? 0; at < line.pieces.length; at++) {
      if (at > 0 && !sink.canTake()) {
        partialLine = { seq: line.seq, bytes: line.bytes, pieces: at };
        return false;
      }
      const piece = line.pieces[at];
      if (piece) sink.write(piece);
    }
    partialLine = undefined;
    return true;
  }

  /** The rest of a message's text is written before its message_end, from the entry: no buffer is kept for slow subscribers. */
  function writeEndedText(line: LogLine): boolean {
    const text = lines.endedTexts.open(line);
    const offsets = sent.get(line.messageId ?? '') ?? [];
    sent.set(line.messageId ?? '', offsets);
    for (let block = 0; block < text.blocks; block++) {
      for (let next = text.lineFrom(block, offsets[block] ?? 0); next; next = text.lineFrom(block, next.end)) {
        if (!sink.canTake()) return false;
        sink.write(next.bytes);
        offsets[block] = next.end;
      }
    }
    return true;
  }

  /** Only once the cursor is at the head of the log: a delta never overtakes the event that introduces its message. */
  function writeLive(): void {
    for (const message of engine.live.openIn(scope)) {
      let offsets = sent.get(message.messageId);
      if (!offsets) sent.set(message.messageId, (offsets = []));
      for (let block = 0; block < message.blocks.length; block++) {
        for (;;) {
          const next = lines.live.ofMessage(message, block, offsets[block] ?? 0);
          if (!next) break;
          if (!sink.canTake()) return;
          sink.write(next.bytes);
          offsets[block] = next.end;
        }
      }
    }
    writeToolOutput();
    for (const signal of engine.signals.since(scope, seenSignals, joinedAt)) {
      if (!sink.canTake()) return;
      sink.write(lines.live.ofSignal(signal));
      seenSignals = signal.version;
    }
    // Signals outside the scope count as seen, too: the next pump has nothing to compare.
    seenSignals = engine.signals.version();
  }

  function writeToolOutput(): void {
    const tools = engine.liveTools.openIn(scope);
    if (tools.length === 0) {
      if (sentOutput.size > 0) sentOutput.clear();
      return;
    }
    for (const tool of tools) {
      const key = `${tool.runId} ${tool.turnId} ${tool.toolCallId}`;
      const next = lines.live.ofTool(tool, sentOutput.get(key) ?? 0);
      if (!next) continue;
      if (!sink.canTake()) return;
      sink.write(next.bytes);
      sentOutput.set(key, next.end);
    }
  }

  return {
    scope,
    pump,
    finishLine() {
      if (!partialLine) return true;
      const line = log.lineAt(partialLine.seq);
      if (line?.bytes !== partialLine.bytes) return false;
      for (const piece of line.pieces.slice(partialLine.pieces)) sink.write(piece);
      partialLine = undefined;
      return true;
    },
    stop() {
      stopped = true;
    },
  };
}
