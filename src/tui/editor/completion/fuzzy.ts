export interface FuzzyMatch<T> {
  readonly item: T;
  readonly score: number;
  /** The characters that match, as UTF-16 units of the text. */
  readonly positions: readonly number[];
}

interface Found {
  score: number;
  positions: number[];
}

/** Scores of kinds of matches; those of scattered letters stay below the others. */
const tuning = {
  exact: 5_000,
  prefix: 4_000,
  wordStart: 3_000,
  substring: 2_000,
  adjacent: 30,
  atWordStart: 10,
  gap: 1,
  startsTried: 16,
} as const;

/**
 * The items that match a query, best first: the same text, its beginning, the beginning of a word, any part of it, and letters of it in
 * order, where adjacent ones count more. Every word of a query must match. Equal scores keep the order of the items.
 */
export function fuzzyFilter<T>(items: readonly T[], query: string, textOf: (item: T) => string): FuzzyMatch<T>[] {
  const wanted = query.trim().toLowerCase();
  const words = wanted.split(/\s+/);
  const found: FuzzyMatch<T>[] = [];
  for (const item of items) {
    const match = matchText(textOf(item), wanted, words);
    if (match) found.push({ item, ...match });
  }
  return wanted === '' ? found : found.sort((a, b) => b.score - a.score);
}

function matchText(text: string, wanted: string, words: readonly string[]): Found | undefined {
  if (wanted === '') return { score: 0, positions: [] };
  const lowered = text.toLowerCase();
  // Few characters change their length, and positions are of the text as it is.
  const lower = lowered.length === text.length ? lowered : text;
  const whole = matchPart(text, lower, wanted);
  if (whole) return whole;
  if (words.length === 1) return matchScattered(text, lower, wanted);
  const positions = new Set<number>();
  let score = 0;
  for (const word of words) {
    const part = matchPart(text, lower, word) ?? matchScattered(text, lower, word);
    if (!part) return undefined;
    score += part.score / words.length / 2;
    for (const position of part.positions) positions.add(position);
  }
  return { score, positions: [...positions].sort((a, b) => a - b) };
}

function matchPart(text: string, lower: string, wanted: string): Found | undefined {
  const first = lower.indexOf(wanted);
  if (first === -1) return undefined;
  if (first === 0) return { score: lower.length === wanted.length ? tuning.exact : tuning.prefix, positions: range(0, wanted.length) };
  for (let at = first; at !== -1; at = lower.indexOf(wanted, at + 1)) {
    if (isWordStart(text, at)) return { score: tuning.wordStart, positions: range(at, wanted.length) };
  }
  return { score: tuning.substring, positions: range(first, wanted.length) };
}

/** The letters in order: the best of a few places to begin, taking adjacent letters and beginnings of words where they come first. */
function matchScattered(text: string, lower: string, wanted: string): Found | undefined {
  let best: Found | undefined;
  let tried = 0;
  for (let at = lower.indexOf(wanted.charAt(0)); at !== -1 && tried < tuning.startsTried; at = lower.indexOf(wanted.charAt(0), at + 1)) {
    const found = matchFrom(text, lower, wanted, at);
    if (!found) break;
    if (!best || found.score > best.score) best = found;
    tried++;
  }
  return best;
}

function matchFrom(text: string, lower: string, wanted: string, start: number): Found | undefined {
  const positions = [start];
  let at = start;
  for (let index = 1; index < wanted.length; index++) {
    at = lower.indexOf(wanted.charAt(index), at + 1);
    if (at === -1) return undefined;
    positions.push(at);
  }
  // From the end backwards the letters stand as close together as they can.
  for (let index = positions.length - 2; index > 0; index--) {
    positions[index] = lower.lastIndexOf(wanted.charAt(index), (positions[index + 1] ?? 0) - 1);
  }
  const gaps = (positions.at(-1) ?? 0) - start + 1 - positions.length;
  const adjacent = positions.filter((position, index) => index > 0 && position === (positions[index - 1] ?? 0) + 1).length;
  const wordStarts = positions.filter((position) => isWordStart(text, position)).length;
  const score = tuning.substring / 2 + (tuning.adjacent * adjacent + tuning.atWordStart * wordStarts) - tuning.gap * gaps;
  return { score: Math.max(1, Math.min(tuning.substring - 1, score)), positions };
}

const letterOrDigit = /[\p{L}\p{N}]/u;

function isWordStart(text: string, at: number): boolean {
  if (at === 0) return true;
  const before = text.charAt(at - 1);
  const here = text.charAt(at);
  if (!letterOrDigit.test(before)) return letterOrDigit.test(here);
  return before !== before.toUpperCase() && here !== here.toLowerCase();
}

function range(from: number, length: number): number[] {
  return Array.from({ length }, (_, index) => from + index);
}
