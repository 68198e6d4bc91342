import { wholeUnits } from '../../protocol/content.js';
import { limits } from '../../protocol/limits.js';

const tuning = { comparedCharsMax: 100 } as const;
/** The lowest Sørensen–Dice coefficient, over pairs of characters (bigrams), of two similar lines. */
const similarityMin = 0.5;

export interface SimilarLine {
  number: number;
  text: string;
}

/** Fuzzy search: the lines of a text that are most similar to the first line of `wanted`, which was not found. Bounded work, as a hint only. */
export function similarLines(text: string, wanted: string): SimilarLine[] {
  const first = wanted.split('\n', limits.editsPerCallMax).find((line) => line.trim() !== '');
  if (first === undefined) return [];
  const sought = squeeze(first);
  const pairs = pairsOf(sought);
  const best: (SimilarLine & { score: number })[] = [];
  let number = 0;
  for (let start = 0; start < text.length && number < limits.alikeLinesMax;) {
    const end = text.indexOf('\n', start);
    const stop = end === -1 ? text.length : end;
    number++;
    const score = scoreOf(squeeze(text.slice(start, Math.min(stop, start + 2 * tuning.comparedCharsMax))), sought, pairs);
    if (score >= similarityMin && (best.length < limits.similarLinesMax || score > (best.at(-1)?.score ?? 0))) {
      const line = text.slice(start, Math.min(stop, start + limits.similarLineCharsMax));
      best.push({ number, text: line.slice(0, wholeUnits(line, limits.similarLineCharsMax)), score });
      best.sort((a, b) => b.score - a.score || a.number - b.number);
      best.length = Math.min(best.length, limits.similarLinesMax);
    }
    start = stop + 1;
  }
  return best.sort((a, b) => a.number - b.number).map(({ number, text }) => ({ number, text }));
}

/** A line without whitespace, which differs most often. */
function squeeze(line: string): string {
  return line
    .slice(0, 2 * tuning.comparedCharsMax)
    .replaceAll(/\s+/gu, '')
    .slice(0, tuning.comparedCharsMax);
}

/** Counts the bigrams of a line. */
function pairsOf(line: string): Map<number, number> {
  const pairs = new Map<number, number>();
  for (let i = 0; i + 1 < line.length; i++) pairs.set(pairAt(line, i), (pairs.get(pairAt(line, i)) ?? 0) + 1);
  return pairs;
}

function pairAt(line: string, at: number): number {
  return line.charCodeAt(at) * 0x10000 + line.charCodeAt(at + 1);
}

function scoreOf(line: string, sought: string, pairs: ReadonlyMap<number, number>): number {
  if (line === sought) return 1;
  const [shorter, longer] = [Math.min(line.length, sought.length), Math.max(line.length, sought.length)];
  // The upper bound of the coefficient, from the lengths alone.
  if ((2 * shorter) / (shorter + longer) < similarityMin || shorter < 2) return 0;
  const left = new Map(pairs);
  let shared = 0;
  for (let i = 0; i + 1 < line.length; i++) {
    const count = left.get(pairAt(line, i)) ?? 0;
    if (count === 0) continue;
    left.set(pairAt(line, i), count - 1);
    shared++;
  }
  return (2 * shared) / (line.length - 1 + sought.length - 1);
}
