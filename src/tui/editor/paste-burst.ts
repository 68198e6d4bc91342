import type { Document } from './document.js';
import { jsonBytes } from './input-size.js';
import { endOf, type Position } from './text-buffer.js';
import type { Tokens } from './tokens.js';
import type { UndoMark } from './undo-stack.js';

/** Nobody types this fast, and terminals that do not mark pastes send them faster. */
const tuning = { gapMs: 8, burstUnitsMin: 3 } as const;
const layout = { pasteLines: 5, pasteUnits: 1_000 } as const;

/** Whether a paste is shown as a placeholder. */
export function isLongPaste(text: string): boolean {
  return text.length > layout.pasteUnits || text.split('\n', layout.pasteLines + 1).length > layout.pasteLines;
}

/** Finds pastes that come as keys: those follow on each other faster than anybody types. */
export interface PasteBurst {
  /** Text is about to be typed. True when it was added to the paste that is coming in, false when it has no room there, else undefined. */
  absorb(text: string, nowMs: number): boolean | undefined;
  /** Text was typed: a burst that has become long is replaced by a placeholder. */
  typed(text: string): void;
  /** Whether an Enter at this time is part of a burst. */
  holdsEnter(nowMs: number): boolean;
  /** Something else happened. */
  end(): void;
  /** The terminal marks its pastes: keys are keys. */
  stop(): void;
}

interface Burst {
  from: Position;
  mark: UndoMark;
  lastMs: number;
  typed: string;
  /** The placeholder, once the burst is long. */
  token?: string;
}

export function createPasteBurst(document: Document, tokens: Tokens): PasteBurst {
  let burst: Burst | undefined;
  let isStopped = false;

  function isFast(nowMs: number): boolean {
    return burst !== undefined && nowMs - burst.lastMs <= tuning.gapMs;
  }

  return {
    absorb(text, nowMs) {
      if (isStopped) return undefined;
      if (!burst || !isFast(nowMs)) burst = { from: document.cursor(), mark: document.mark(), lastMs: nowMs, typed: '' };
      burst.lastMs = nowMs;
      if (burst.token === undefined) return undefined;
      const bytes = jsonBytes(text);
      if (!document.hasRoom(bytes)) return false;
      tokens.grow(burst.token, text);
      document.grown(bytes);
      return true;
    },
    typed(text) {
      if (!burst) return;
      burst.typed += text;
      if (!isLongPaste(burst.typed)) return;
      const { from, mark, typed } = burst;
      // Text that has joined with what stands behind the cursor is not in one piece.
      const isWhole = document.slice(from, endOf(from, typed)) === typed;
      const token = isWhole ? tokens.addPaste(typed) : undefined;
      if (token === undefined) {
        burst = undefined;
        return;
      }
      document.collapse(mark, from, typed, token);
      burst.token = token;
    },
    holdsEnter: (nowMs) =>
      !isStopped && isFast(nowMs) && (burst?.token !== undefined || (burst?.typed.length ?? 0) >= tuning.burstUnitsMin),
    end() {
      burst = undefined;
    },
    stop() {
      burst = undefined;
      isStopped = true;
    },
  };
}
