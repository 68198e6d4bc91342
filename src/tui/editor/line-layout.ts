import { isToken, scanCells } from './borders.js';
import type { Line, Position } from './text-buffer.js';
import type { Tokens } from './tokens.js';

type Widths = Pick<Tokens, 'widthOf'>;

/** A row of the screen: which row of which line. */
export interface RowPlace {
  readonly line: number;
  readonly row: number;
}

interface Layout {
  readonly text: string;
  readonly columns: number;
  readonly starts: readonly number[];
}

/** The rows of an earlier text of a line that are those of its present text as well. */
interface Reuse {
  /** Where the rows begin up to the change, and two rows before it. */
  readonly head: readonly number[];
  /** Where the rows begin that follow a row start behind the change; undefined when no row began there. */
  tailFrom(start: number): readonly number[] | undefined;
}

/** From this length on, a line is laid out from the change on. */
const tuning = { longLineUnits: 4_096 } as const;

const cache = new WeakMap<Line, Layout>();
/** The long line that was laid out last, for each editor. */
const longLines = new WeakMap<Widths, Layout>();

/** The columns that graphemes may take of a row: the last one is for the cursor, and for a space at which a line is wrapped. */
export function roomOf(columns: number): number {
  return Math.max(1, columns - 1);
}

/** Where each row of a line begins, wrapped by words to `columns` columns. */
export function rowStarts(line: Line, columns: number, widths: Widths): readonly number[] {
  const cached = cache.get(line);
  if (cached?.columns === columns) return cached.starts;
  const isLong = line.text.length >= tuning.longLineUnits;
  const before = isLong ? longLines.get(widths) : undefined;
  const reuse = before?.columns === columns ? findReuse(before, line.text) : undefined;
  const starts = wrapLine(line.text, roomOf(columns), widths, reuse);
  const layout = { text: line.text, columns, starts };
  cache.set(line, layout);
  if (isLong) longLines.set(widths, layout);
  return starts;
}

const token = /[\ud800-\udbff](?![\udc00-\udfff])/;

function findReuse({ text: before, starts }: Layout, text: string): Reuse | undefined {
  // The width of a placeholder may have changed with the same text.
  if (token.test(before) || token.test(text)) return undefined;
  const shortest = Math.min(before.length, text.length);
  let same = 0;
  while (same < shortest && before.charCodeAt(same) === text.charCodeAt(same)) same++;
  let sameAtEnd = 0;
  while (sameAtEnd < shortest - same && before.charCodeAt(before.length - 1 - sameAtEnd) === text.charCodeAt(text.length - 1 - sameAtEnd))
    sameAtEnd++;
  const moved = text.length - before.length;
  return {
    // A row ends where it does because of the row after it.
    head: starts.slice(0, Math.max(1, rowOf(starts, same) - 1)),
    tailFrom(start) {
      if (start < text.length - sameAtEnd) return undefined;
      const row = rowOf(starts, start - moved);
      return starts[row] === start - moved ? starts.slice(row + 1).map((next) => next + moved) : undefined;
    },
  };
}

function wrapLine(text: string, room: number, widths: Widths, reuse: Reuse | undefined): readonly number[] {
  const starts = reuse ? [...reuse.head] : [0];
  const cells = scanCells(text, starts.at(-1) ?? 0, widths.widthOf);
  let tail: readonly number[] | undefined;
  let used = 0;
  let breakAt = -1;
  let usedAtBreak = 0;
  let isIndent = true;

  function breakRow(at: number, usedAfter: number): void {
    starts.push(at);
    tail = reuse?.tailFrom(at);
    used = usedAfter;
    breakAt = -1;
    isIndent = usedAfter === 0;
  }

  while (tail === undefined && cells.next()) {
    const width = Math.min(cells.width, room);
    const code = text.charCodeAt(cells.start);
    const isSpace = cells.end - cells.start === 1 && (code === 0x20 || code === 0x09);
    const mayBreak = width > 1 || isToken(code);
    if (used + width > room) {
      if (isSpace) {
        breakRow(cells.end, 0);
        continue;
      }
      if (mayBreak || breakAt === -1) breakRow(cells.start, 0);
      else breakRow(breakAt, used - usedAtBreak);
    }
    used += width;
    if (isSpace ? !isIndent : mayBreak) {
      breakAt = cells.end;
      usedAtBreak = used;
    }
    isIndent &&= isSpace;
  }
  return tail === undefined ? starts : [...starts, ...tail];
}

/** The row of a line that a place is in. */
export function rowOf(starts: readonly number[], unit: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] ?? 0) <= unit) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The column of a place in the row that begins at `start`. */
export function columnOf(text: string, start: number, unit: number, columns: number, widths: Widths): number {
  const cells = scanCells(text, start, widths.widthOf);
  let column = 0;
  while (cells.end < unit && cells.next()) column += Math.min(cells.width, roomOf(columns));
  return Math.min(column, columns - 1);
}

/** The place in a row that is nearest to a column, from the left. */
function unitAt(text: string, starts: readonly number[], row: number, column: number, columns: number, widths: Widths): number {
  const next = starts[row + 1];
  const cells = scanCells(text, starts[row] ?? 0, widths.widthOf);
  let used = 0;
  let unit = cells.end;
  while (cells.next()) {
    used += Math.min(cells.width, roomOf(columns));
    // The place at the end of a row that goes on belongs to the next row.
    if (used > column || (next !== undefined && cells.end >= next)) break;
    unit = cells.end;
  }
  return unit;
}

/** One row up or down, as near to a column as it can be; undefined at the first and the last row. */
export function moveByRow(
  lines: readonly Line[],
  cursor: Position,
  by: -1 | 1,
  column: number,
  columns: number,
  widths: Widths,
): Position | undefined {
  const line = lines[cursor.line];
  if (!line) return undefined;
  const starts = rowStarts(line, columns, widths);
  const row = rowOf(starts, cursor.unit) + by;
  if (row >= 0 && row < starts.length) return { line: cursor.line, unit: unitAt(line.text, starts, row, column, columns, widths) };
  const other = lines[cursor.line + by];
  if (!other) return undefined;
  const otherStarts = rowStarts(other, columns, widths);
  return { line: cursor.line + by, unit: unitAt(other.text, otherStarts, by > 0 ? 0 : otherStarts.length - 1, column, columns, widths) };
}
