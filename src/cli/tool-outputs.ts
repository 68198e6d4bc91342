import type { Page } from './page.js';

/** Of what was shown, so much is kept to find the place in the result where it ended. */
const keptCharsMax = 2_000;

interface Shown {
  length: number;
  /** Its end. */
  tail: string;
}

/** What running tools print, each character once. */
export interface ToolOutputs {
  begin(callId: string): void;
  isOpen(callId: string): boolean;
  hear(callId: string, offset: number, piece: string): void;
  /** The call is over: what of its result was not shown yet. Undefined when it cannot be told. */
  end(callId: string, result: string): string | undefined;
}

export function createToolOutputs(page: Page, note: (text: string) => void): ToolOutputs {
  const open = new Map<string, Shown>();
  return {
    begin: (callId) => void open.set(callId, { length: 0, tail: '' }),
    isOpen: (callId) => open.has(callId),
    hear(callId, offset, piece) {
      const { length, tail } = open.get(callId) ?? { length: 0, tail: '' };
      const end = offset + piece.length;
      const fresh = piece.slice(Math.max(0, length - offset));
      open.set(callId, { length: Math.max(length, end), tail: (tail + fresh).slice(-keptCharsMax) });
      if (end <= length) return;
      if (offset > length) note(`  [${offset - length} characters of its output were skipped]`);
      page.flow(`${callId} output`, fresh, { indent: '  ' });
    },
    end(callId, result) {
      const { length, tail } = open.get(callId) ?? { length: 0, tail: '' };
      open.delete(callId);
      const at = length === tail.length ? (result.startsWith(tail) ? 0 : -1) : result.lastIndexOf(tail);
      return at === -1 ? undefined : result.slice(at + tail.length);
    },
  };
}
