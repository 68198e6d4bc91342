import { limits } from '../../protocol/limits.js';

interface HandedOut {
  length: number;
  /** Its end. */
  tail: string;
}

/** Follows what running tools print, and hands out every character once. */
export interface ToolOutputs {
  begin(callId: string): void;
  isOpen(callId: string): boolean;
  /** Takes a piece of an output. */
  update(callId: string, offset: number, piece: string): void;
  /** The call is over: what of its result was not handed out yet; nothing when the result is another text than the output was. */
  end(callId: string, result: string): string;
}

export interface ToolOutputListener {
  /** More of an output, as it was sent: it must be made printable before it is shown. */
  onOutput(callId: string, piece: string): void;
  /** So many characters of an output are missing before what comes next. */
  onSkipped(callId: string, characters: number): void;
}

export function createToolOutputs({ onOutput, onSkipped }: ToolOutputListener): ToolOutputs {
  const open = new Map<string, HandedOut>();
  return {
    begin: (callId) => void open.set(callId, { length: 0, tail: '' }),
    isOpen: (callId) => open.has(callId),
    update(callId, offset, piece) {
      const { length, tail } = open.get(callId) ?? { length: 0, tail: '' };
      const end = offset + piece.length;
      const fresh = piece.slice(Math.max(0, length - offset));
      open.set(callId, { length: Math.max(length, end), tail: (tail + fresh).slice(-limits.viewOutputTailUnitsMax) });
      if (end <= length) return;
      if (offset > length) onSkipped(callId, offset - length);
      onOutput(callId, fresh);
    },
    end(callId, result) {
      const { length, tail } = open.get(callId) ?? { length: 0, tail: '' };
      open.delete(callId);
      const at = length === tail.length ? (result.startsWith(tail) ? 0 : -1) : result.lastIndexOf(tail);
      return at === -1 ? '' : result.slice(at + tail.length);
    },
  };
}
