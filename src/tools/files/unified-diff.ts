import { formatPatch, structuredPatch, type StructuredPatch } from 'diff';
import { utf8Bytes } from '../../protocol/content.js';
import { limits } from '../../protocol/limits.js';
import { countLines } from './text-files.js';

export interface TextDiff {
  /** A unified diff, truncated with a note when very long. */
  diff: string;
  isCut: boolean;
  added: number;
  removed: number;
}

/** Makes a unified diff in bounded time. `before` is undefined for a file that does not exist yet. */
export function diffTexts(name: string, before: string | undefined, after: string): TextDiff {
  const from = before ?? '';
  const common = commonLines(from, after);
  const patch = patchOf(name, from.slice(common.from, from.length - common.behind), after.slice(common.from, after.length - common.behind));
  for (const hunk of patch.hunks) {
    hunk.oldStart += common.lines;
    hunk.newStart += common.lines;
  }
  if (before === undefined) patch.oldFileName = '/dev/null';
  const lines = patch.hunks.flatMap((hunk) => hunk.lines);
  const count = (mark: string): number => lines.reduce((sum, line) => sum + (line.startsWith(mark) ? 1 : 0), 0);
  const text = formatPatch(patch, { includeIndex: false, includeUnderline: false, includeFileHeaders: true });
  const diff = truncateDiff(text, limits.diffBytesMax);
  return { diff, isCut: diff !== text, added: count('+'), removed: count('-') };
}

/** Truncates a diff after a whole line, with a note of how many lines are missing. */
export function truncateDiff(text: string, bytesMax: number): string {
  if (utf8Bytes(text) <= bytesMax) return text;
  const bytes = Buffer.from(text).subarray(0, bytesMax);
  const shown = bytes.subarray(0, bytes.lastIndexOf(0x0a) + 1).toString('utf8');
  return `${shown}[${countLines(text.slice(shown.length))} more lines of the diff are not shown]\n`;
}

/** Lengths of the common lines at the beginning and at the end of two texts, less the context lines around the difference. */
function commonLines(one: string, other: string): { from: number; behind: number; lines: number } {
  const max = Math.min(one.length, other.length);
  let same = 0;
  while (same < max && one.charCodeAt(same) === other.charCodeAt(same)) same++;
  const from = lineStarts(one, same, limits.diffContextLinesMax);
  let behind = 0;
  while (behind < max - same && one.charCodeAt(one.length - 1 - behind) === other.charCodeAt(other.length - 1 - behind)) behind++;
  let end = one.length - behind;
  for (let i = 0; i <= limits.diffContextLinesMax && end < one.length; i++) {
    const next = one.indexOf('\n', end);
    end = next === -1 ? one.length : next + 1;
  }
  return { from, behind: one.length - end, lines: countLines(one.slice(0, from)) };
}

/** The offset of the beginning of the line that is `above` lines above offset `at`. */
function lineStarts(text: string, at: number, above: number): number {
  let start = at;
  for (let i = 0; i <= above && start > 0; i++) {
    const before = start - (i === 0 ? 1 : 2);
    start = before < 0 ? 0 : text.lastIndexOf('\n', before) + 1;
  }
  return start;
}

function patchOf(name: string, before: string, after: string): StructuredPatch {
  const options = { context: limits.diffContextLinesMax, maxEditLength: limits.diffLinesMax, timeout: limits.diffMs };
  return structuredPatch(name, name, before, after, undefined, undefined, options) ?? wholePatch(name, before, after);
}

/** The fallback after a diff timeout: all old lines removed, all new lines added. */
function wholePatch(name: string, before: string, after: string): StructuredPatch {
  const linesOf = (text: string, mark: string): string[] => {
    if (text === '') return [];
    const lines = text.split('\n');
    const isEnded = lines.at(-1) === '';
    if (isEnded) lines.pop();
    const marked = lines.map((line) => mark + line);
    return isEnded ? marked : [...marked, '\\ No newline at end of file'];
  };
  const [oldLines, newLines] = [countLines(before), countLines(after)];
  const hunk = { oldStart: 1, oldLines, newStart: 1, newLines, lines: [...linesOf(before, '-'), ...linesOf(after, '+')] };
  return { oldFileName: name, newFileName: name, oldHeader: undefined, newHeader: undefined, hunks: [hunk] };
}
