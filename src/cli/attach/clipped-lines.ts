import { printable } from '../../view/printable.js';
import { clipColumns } from '../terminal/columns.js';
import type { Style } from '../terminal/style.js';

/** A longer line is cut, unless everything is wanted. */
const layout = { lineColumnsMax: 400 } as const;

export interface ClippedLines {
  lines: string[];
  /** What was truncated, in words; empty when nothing was. */
  missing: string;
}

/** Truncates an untrusted text to printable lines. With `Infinity`, all of the text. */
export function clipLines(text: string, linesMax: number): ClippedLines {
  const all = printable(text).replace(/\n$/, '').split('\n');
  if (linesMax === Infinity) return { lines: all, missing: '' };
  const shown = all.length > linesMax + 1 ? all.slice(0, linesMax) : all;
  const lines = shown.map((line) => clipColumns(line, layout.lineColumnsMax));
  const cut = lines.filter((line, at) => line !== shown[at]).length;
  const missing = [
    ...(shown === all ? [] : [`${all.length - shown.length} more lines`]),
    ...(cut === 0 ? [] : [`the ends of ${cut} long ${cut === 1 ? 'line' : 'lines'}`]),
  ];
  return { lines, missing: missing.join(' and ') };
}

/** A line of a unified diff in its colour. */
export function paintDiff(line: string, style: Style): string {
  if (line.startsWith('+++') || line.startsWith('---')) return style.bold(line);
  if (line.startsWith('+')) return style.green(line);
  if (line.startsWith('-')) return style.red(line);
  return line.startsWith('@@') ? style.dim(line) : line;
}
