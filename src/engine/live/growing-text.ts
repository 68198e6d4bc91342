import { wholeUnits } from '../../protocol/content.js';

/** A text that only grows. Reading its end costs what is read, not what came before: joined strings would be flattened each time. */
export interface GrowingText {
  /** Returns how many more units may be read now. */
  append(text: string): number;
  /** Units that may be read. Half of a surrogate pair waits for its other half. */
  length(): number;
  /** At most `unitsMax` units from `from` on, never half a pair. */
  slice(from: number, unitsMax: number): string;
  /** Everything, with a half pair that never became whole replaced. */
  all(): string;
}

const pieceUnits = 4096;

export function createGrowingText(): GrowingText {
  const pieces: string[] = [];
  const starts: number[] = [];
  /** The words since the last whole piece. Added to one another they would become a rope that costs many times its text. */
  let words: string[] = [];
  let wordsFrom = 0;
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
    // No word ends with the first half of a pair, so that joining them makes no pair of two lone halves.
    if (words.length > 0) words = [words.join('').toWellFormed()];
    return words[0] ?? '';
  }

  return {
    append(text) {
      let whole = half + text;
      const last = whole.charCodeAt(whole.length - 1);
      half = last >= 0xd800 && last <= 0xdbff ? whole.slice(-1) : '';
      if (half !== '') whole = whole.slice(0, -1);
      if (whole === '') return 0;
      words.push(whole);
      length += whole.length;
      if (length - wordsFrom < pieceUnits) return whole.length;
      pieces.push(tail());
      starts.push(wordsFrom);
      words = [];
      wordsFrom = length;
      return whole.length;
    },
    length: () => length,
    slice(from, unitsMax) {
      if (from >= wordsFrom) {
        const rest = tail().slice(from - wordsFrom);
        return rest.slice(0, wholeUnits(rest, unitsMax));
      }
      const first = pieceAt(from);
      // As many pieces as hold `unitsMax` units, and one more for the part of the first that is passed over.
      const some = pieces.slice(first, first + Math.ceil(unitsMax / pieceUnits) + 1);
      const text = (some.join('') + tail()).slice(from - (starts[first] ?? 0));
      return text.slice(0, wholeUnits(text, unitsMax));
    },
    all: () => pieces.join('') + tail() + half.toWellFormed(),
  };
}
