import { wholeUnits } from '../protocol/content.js';

/** A text that only grows. Reading its end costs what is read, not what came before: joined strings would be flattened each time. */
export interface GrowingText {
  append(text: string): void;
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

  return {
    append(text) {
      let whole = half + text;
      const last = whole.charCodeAt(whole.length - 1);
      half = last >= 0xd800 && last <= 0xdbff ? whole.slice(-1) : '';
      if (half !== '') whole = whole.slice(0, -1);
      whole = whole.toWellFormed();
      if (whole === '') return;
      const newest = pieces.length - 1;
      const tail = pieces[newest];
      if (tail !== undefined && tail.length < pieceUnits) pieces[newest] = tail + whole;
      else {
        pieces.push(whole);
        starts.push(length);
      }
      length += whole.length;
    },
    length: () => length,
    slice(from, unitsMax) {
      const first = pieceAt(from);
      let text = (pieces[first] ?? '').slice(from - (starts[first] ?? 0));
      for (let i = first + 1; i < pieces.length && text.length < unitsMax; i++) text += pieces[i] ?? '';
      return text.slice(0, wholeUnits(text, unitsMax));
    },
    all: () => pieces.join('') + half.toWellFormed(),
  };
}
