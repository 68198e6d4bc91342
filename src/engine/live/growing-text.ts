import { wholeUnits } from '../../protocol/content.js';

/** An append-only text buffer. Reading its tail takes linear time in the tail: one long string would be flattened by V8 each time. */
export interface GrowingText {
  /** Returns how many UTF-16 units were added to `length`. */
  append(text: string): number;
  /** UTF-16 units that can be read. A lone high surrogate waits for its low surrogate. */
  length(): number;
  /** At most `unitsMax` units from `from` on, never half a surrogate pair. */
  slice(from: number, unitsMax: number): string;
  /** The whole text; a lone surrogate at its end is replaced. */
  all(): string;
}

const tuning = { pieceUnits: 4096 } as const;

export function createGrowingText(): GrowingText {
  const pieces: string[] = [];
  const starts: number[] = [];
  /** Chunks since the last whole piece. Concatenated one by one they would become a rope, which takes many times the memory. */
  let chunks: string[] = [];
  let chunksFrom = 0;
  let length = 0;
  let half = '';

  function pieceAt(offset: number): number {
    let low = 0;
    let high = pieces.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  function tail(): string {
    // No chunk ends with a high surrogate, so that joining chunks makes no pair of two lone surrogates.
    if (chunks.length > 0) chunks = [chunks.join('').toWellFormed()];
    return chunks[0] ?? '';
  }

  return {
    append(text) {
      let whole = half + text;
      const last = whole.charCodeAt(whole.length - 1);
      half = last >= 0xd800 && last <= 0xdbff ? whole.slice(-1) : '';
      if (half !== '') whole = whole.slice(0, -1);
      if (whole === '') return 0;
      chunks.push(whole);
      length += whole.length;
      if (length - chunksFrom < tuning.pieceUnits) return whole.length;
      pieces.push(tail());
      starts.push(chunksFrom);
      chunks = [];
      chunksFrom = length;
      return whole.length;
    },
    length: () => length,
    slice(from, unitsMax) {
      if (from >= chunksFrom) {
        const rest = tail().slice(from - chunksFrom);
        return rest.slice(0, wholeUnits(rest, unitsMax));
      }
      const first = pieceAt(from);
      // As many pieces as hold `unitsMax` units, and one more for the part of the first piece before `from`.
      const some = pieces.slice(first, first + Math.ceil(unitsMax / tuning.pieceUnits) + 1);
      const text = (some.join('') + tail()).slice(from - (starts[first] ?? 0));
      return text.slice(0, wholeUnits(text, unitsMax));
    },
    all: () => pieces.join('') + tail() + half.toWellFormed(),
  };
}
