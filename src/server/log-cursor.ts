import type { Scope } from '../core/scope.js';
import type { ServedEngine } from '../engine/engine.js';
import type { LineSink } from './lines/line-sink.js';
import type { Lines } from './lines/lines.js';
import type { LogLine } from './lines/log-line.js';
import type { LogPage } from './lines/log-lines.js';

/** Where a cursor begins. */
export interface CursorStart {
  scope: Scope;
  /** Everything above this is sent. */
  after: number;
  /** The reader had a view of the session at `after`. */
  fromCursor: boolean;
  /** Messages that end above this are live: their text comes before their end. */
  liveFrom: number;
  live: boolean;
  /** What a client without a cursor is told first: the events, up to a position, of runs that it finds in progress. */
  prelude: { runIds: string[]; upTo: number } | undefined;
}

export interface LogCursor {
  readonly scope: Scope;
  /** Writes what there is, as far as the sink takes it. Cheap when there is nothing. */
  pump(): void;
  /** Writes the rest of a line that is half written, whether the sink takes it or not. False when it is gone. */
  finishLine(): boolean;
  stop(): void;
}

export interface CursorEvents {
  /** There is nothing more to read: its session was deleted, or the rest of a line that is half written was. The owner stops the cursor. */
  onEnd(why: 'session_deleted' | 'line_lost'): void;
  /** The end of a run was written. */
  onRunEnd?(runId: string): void;
}

interface Deps {
  engine: ServedEngine;
  lines: Lines;
}

/**
 * One reader: a position in the log and an offset into each open message, from which it makes the lines that its sink has not had. The log
 * is its queue and the open message its buffer.
 */
export function createLogCursor(start: CursorStart, sink: LineSink, events: CursorEvents, { engine, lines }: Deps): LogCursor {
  const { log } = lines;
  const { scope } = start;
  let position = start.after;
  let preludeTo = start.prelude ? 0 : Infinity;
  const sent = new Map<string, number[]>();
  const sentOutput = new Map<string, number>();
  /** A long line of which some pieces are written. */
  let begun: { seq: number; bytes: number; pieces: number } | undefined;
  // Signals have no seq, so that a reader with a cursor may have missed some: it is told the newest of each key again.
  let seenSignals = start.fromCursor && !scope.all ? 0 : engine.signals.version();
  let scheduled = false;
  let stopped = false;

  function pump(): void {
    if (stopped || !sink.canTake()) return;
    // A single delta goes straight out; a page of lines goes out together.
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
      // Others get their turn between two pages.
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

  /** A line that is half written comes first in the next page, unless it was deleted meanwhile. */
  function isLineLost({ lines }: LogPage): boolean {
    const [next] = lines;
    if (!begun || (next?.seq === begun.seq && next.bytes === begun.bytes)) return false;
    events.onEnd('line_lost');
    return true;
  }

  /** False when the reader had no room for all of it; what was written is remembered. */
  function writeLine(line: LogLine, withText: boolean): boolean {
    if (!begun && withText && isSaid(line) && !writeEndedText(line)) return false;
    if (!writePieces(line)) return false;
    if (line.type === 'message_end' && line.messageId !== undefined) sent.delete(line.messageId);
    if (line.type === 'agent_end' && line.runId !== undefined) events.onRunEnd?.(line.runId);
    return true;
  }

  function isSaid({ type, role, messageId }: LogLine): boolean {
    return type === 'message_end' && role === 'assistant' && messageId !== undefined;
  }

  function writePieces(line: LogLine): boolean {
    for (let at = begun?.pieces ?? 0; at < line.pieces.length; at++) {
      if (at > 0 && !sink.canTake()) {
        begun = { seq: line.seq, bytes: line.bytes, pieces: at };
        return false;
      }
      const piece = line.pieces[at];
      if (piece) sink.write(piece);
    }
    begun = undefined;
    return true;
  }

  /** Its last words come before its end. They are read from the entry: nobody keeps them for who is slow. */
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

  /** Only once the cursor is at the head: a delta never overtakes the event that introduces its message. */
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
    for (const signal of engine.signals.since(scope, seenSignals)) {
      if (!sink.canTake()) return;
      sink.write(lines.live.ofSignal(signal));
      seenSignals = signal.version;
    }
    // Those of other sessions are seen too: there is nothing to look for until the next one.
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
      if (!begun) return true;
      const line = log.lineAt(begun.seq);
      if (line?.bytes !== begun.bytes) return false;
      for (const piece of line.pieces.slice(begun.pieces)) sink.write(piece);
      begun = undefined;
      return true;
    },
    stop() {
      stopped = true;
    },
  };
}
