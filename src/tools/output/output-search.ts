import { setImmediate as nextTick } from 'node:timers/promises';
import { createContext, Script } from 'node:vm';
import { limits } from '../../protocol/limits.js';
import { cleanText, truncateLongLines } from './clean-text.js';

/** Returns the indexes of matching lines; undefined on timeout. */
export type LineFinder = (lines: readonly string[]) => number[] | undefined;

const loop = new Script(
  '(() => { const [all, one] = [lines, pattern]; const hits = []; for (let i = 0; i < all.length; i++) if (one.test(all[i])) hits.push(i); return hits; })()',
);

/** Matches plain text, or a regular expression under a timeout, because of catastrophic backtracking. A string says why the pattern is invalid. */
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
  /** Each line with its byte offset: `offset: text` for a match, `offset- text` for a context line. */
  lines: string[];
  matches: number;
  /** The offset to continue from, when the search stopped at a limit. */
  next: number | undefined;
  problem: string | undefined;
}

interface Line {
  at: number;
  text: string;
}

/** Searches an artifact in chunks. Overlong lines are searched in parts. Undefined when there is no such artifact. */
export async function searchLines({ read, finder, offset, contextLines, bytesMax, signal }: LineSearch): Promise<FoundLines | undefined> {
  const found: FoundLines = { lines: [], matches: 0, next: undefined, problem: undefined };
  const before: Line[] = [];
  let shownUntil = -1;
  let after = 0;
  let bytes = 0;
  let at = offset;

  function show(line: Line, mark: ':' | '-'): void {
    if (line.at <= shownUntil) return;
    const text = `${line.at}${mark} ${truncateLongLines(line.text).text}`;
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
    if (hits === undefined) return { ...found, problem: 'The regular expression timed out; make it simpler, or search for plain text.' };
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

/** Splits a chunk into lines. An incomplete last line is left for the next chunk, unless the line alone fills this one. */
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
