import { limits } from '../../protocol/limits.js';

interface StreamedOutput {
  length: number;
  /** The last characters, to find the emitted output in the result. */
  tail: string;
}

/** Deduplicates the streamed output of running tools: every character is emitted once. */
export interface ToolOutputs {
  begin(callId: string): void;
  isOpen(callId: string): boolean;
  /** Takes an output delta. */
  update(callId: string, offset: number, piece: string): void;
  /** Ends a call: returns the part of its result that was not emitted; empty when the result is not the output. */
  end(callId: string, result: string): string;
}

export interface ToolOutputListener {
  /** A chunk of output, not sanitized. */
  onOutput(callId: string, piece: string): void;
  /** A gap of this many characters before the next chunk. */
  onSkipped(callId: string, characters: number): void;
}

export function createToolOutputs({ onOutput, onSkipped }: ToolOutputListener): ToolOutputs {
  const open = new Map<string, StreamedOutput>();
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
