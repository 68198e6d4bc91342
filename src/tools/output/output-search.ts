import { setImmediate as nextTick } from 'node:timers/promises';
import { createContext, Script } from 'node:vm';
import { limits } from '../../protocol/limits.js';
import { cleanText, cutLines } from './clean-text.js';

/** The places of the lines that match, or undefined when that takes too long. */
export type LineFinder = (lines: readonly string[]) => number[] | undefined;

const loop = new Script(
  '(() => { const [all, one] = [lines, pattern]; const hits = []; for (let i = 0; i < all.length; i++) if (one.test(all[i])) hits.push(i); return hits; })()',
);

/** Plain text is searched as it is. An expression runs under a watch that ends it: some take for ever. A string says what is wrong with it. */
export function createLineFinder(text: string, isExpression: boolean): LineFinder | string {
  if (!isExpression) return (lines) => lines.flatMap((line, i) => (line.includes(text) ? [i] : []));
  let pattern: RegExp;
  try {
    pattern = new RegExp(text, 'u');
  } catch (error) {
    return `The pattern is not a regular expression: ${error instanceof Error ? error.message : String(error)}`;
  }
  const scope: { lines: readonly string[]; pattern: RegExp } = { lines: [], pattern };
  const context = createContext(scope);
  return (lines) => {
    scope.lines = lines;
    try {
      return [...(loop.runInContext(context, { timeout: limits.outputSearchSliceMs }) as number[])];
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return undefined;
      throw error;
    }
  };
}

export interface LineSearch {
  read(offset: number, limit: number): { data: Buffer; totalBytes: number } | undefined;
  finder: LineFinder;
  offset: number;
  contextLines: number;
  bytesMax: number;
  signal: AbortSignal;
}

export interface FoundLines {
  /** Each with the offset at which it begins: `offset: text`, or `offset- text` for one around a match. */
  lines: string[];
  matches: number;
  /** Where to go on, when the search ended early. */
  next: number | undefined;
  problem: string | undefined;
}

interface Line {
  at: number;
  text: string;
}

/** Looks through an artifact piece by piece. Lines that are too long are searched in parts. Undefined when there is no such artifact. */
export async function searchLines({ read, finder, offset, contextLines, bytesMax, signal }: LineSearch): Promise<FoundLines | undefined> {
  const found: FoundLines = { lines: [], matches: 0, next: undefined, problem: undefined };
  const before: Line[] = [];
  let shownUntil = -1;
  let after = 0;
  let bytes = 0;
  let at = offset;

  function show(line: Line, mark: ':' | '-'): void {
    if (line.at <= shownUntil) return;
    const text = `${line.at}${mark} ${cutLines(line.text).text}`;
    bytes += Buffer.byteLength(text);
    shownUntil = line.at;
    found.lines.push(text);
  }

  for (let total = Infinity; at < total;) {
    await nextTick();
    if (signal.aborted) return { ...found, problem: 'Stopped.' };
    const piece = read(at, limits.outputChunkBytes);
    if (!piece) return undefined;
    total = piece.totalBytes;
    const { lines, end } = toLines(piece.data, at, at + piece.data.length >= total);
    if (lines.length === 0) break;
    const hits = finder(lines.map(({ text }) => text));
    if (hits === undefined) return { ...found, problem: 'The pattern takes too long; make it simpler, or search for plain text.' };
    const matching = new Set(hits);
    for (const [i, line] of lines.entries()) {
      if (matching.has(i)) {
        if (found.matches >= limits.outputSearchMatchesMax || bytes >= bytesMax) return { ...found, next: line.at };
        for (const earlier of before) show(earlier, '-');
        show(line, ':');
        found.matches++;
        after = contextLines;
      } else if (after > 0) {
        show(line, '-');
        after--;
      }
      before.push(line);
      if (before.length > contextLines) before.shift();
    }
    at = end;
  }
  return found;
}

/** The lines of a piece. One that goes on after it is left for the next time, unless it is too long for that. */
function toLines(data: Buffer, at: number, isLast: boolean): { lines: Line[]; end: number } {
  const lines: Line[] = [];
  let start = 0;
  while (start < data.length) {
    const lineEnd = data.indexOf(10, start);
    const whole = lineEnd !== -1 || isLast;
    const end = lineEnd === -1 ? data.length : lineEnd;
    if (!whole && start > 0) break;
    const stop = Math.min(end, start + limits.outputSearchLineCharsMax);
    lines.push({ at: at + start, text: cleanText(data.toString('utf8', start, stop)) });
    start = stop < end ? stop : end + 1;
  }
  return { lines, end: at + Math.min(start, data.length) };
}
