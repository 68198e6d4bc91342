import { graphemesOf } from '../kit/graphemes.js';
import { textWidth } from './cells.js';
import { marks } from './marks.js';
import { clipSpans, spansWidth, type Row, type Span } from './row.js';

export interface WrapOptions {
  /** Decoration in front of the first row, and in front of the rows after it: gutters, bullets, indentation. */
  first?: readonly Span[];
  rest?: readonly Span[];
  /** So many columns of `first` are decoration, and the others are text that can be copied; all of them unless told. */
  firstGutter?: number;
  /** Break anywhere instead of at spaces: code, whose spaces count. */
  anywhere?: boolean;
}

/** A logical line longer than this is cut before wrapping: nobody reads it, and wrapping it would be felt. */
const layout = { lineUnitsMax: 10_000 } as const;

interface Cell {
  grapheme: string;
  width: number;
  span: Span;
}

interface Lead {
  spans: readonly Span[];
  width: number;
  gutter: number;
}

/** Wraps spans, which may hold line ends, to rows of at most `columns` columns. Never returns an empty list. */
export function wrapSpans(spans: readonly Span[], columns: number, options: WrapOptions = {}): Row[] {
  const { first = [], rest = first, firstGutter = Infinity, anywhere = false } = options;
  const firstLead = toLead(first, columns, firstGutter);
  const restLead = toLead(rest, columns, Infinity);
  const rows: Row[] = [];
  for (const [at, line] of toLines(spans).entries()) wrapLine(line, columns, at === 0 ? firstLead : restLead, restLead, anywhere, rows);
  return rows;
}

/** A column is left for the text, however narrow the screen is. */
function toLead(wanted: readonly Span[], columns: number, gutterMax: number): Lead {
  const spans = clipSpans(wanted, Math.max(0, columns - 1), '');
  const width = spansWidth(spans);
  return { spans, width, gutter: Math.min(width, gutterMax) };
}

/** The logical lines of spans. */
function toLines(spans: readonly Span[]): (readonly Span[])[] {
  if (!spans.some(({ text }) => text === '' || text.includes('\n'))) return [spans];
  const lines: Span[][] = [[]];
  for (const part of spans) {
    for (const [at, text] of part.text.split('\n').entries()) {
      if (at > 0) lines.push([]);
      if (text !== '') lines.at(-1)?.push({ ...part, text });
    }
  }
  return lines;
}

function wrapLine(line: readonly Span[], columns: number, first: Lead, rest: Lead, anywhere: boolean, rows: Row[]): void {
  const units = line.reduce((sum, part) => sum + part.text.length, 0);
  // Most lines fit, and need no look at their graphemes.
  if (units <= layout.lineUnitsMax && spansWidth(line) <= columns - first.width) {
    rows.push({ spans: [...first.spans, ...line], gutter: first.gutter });
    return;
  }
  const cells = toCells(line, Math.max(1, columns - Math.max(first.width, rest.width)));
  let from = 0;
  let dropped: string | undefined;
  do {
    const lead = dropped === undefined ? first : rest;
    const { end, next } = breakAfter(cells, from, Math.max(1, columns - lead.width), anywhere);
    rows.push({
      spans: [...lead.spans, ...toSpans(cells.slice(from, end))],
      gutter: lead.gutter,
      ...(dropped === undefined ? {} : { continues: dropped }),
    });
    dropped = cells
      .slice(end, next)
      .map(({ grapheme }) => grapheme)
      .join('');
    from = next;
  } while (from < cells.length);
}

function toCells(line: readonly Span[], widest: number): Cell[] {
  const cells: Cell[] = [];
  let units = 0;
  for (const part of line) {
    const text = part.text.slice(0, layout.lineUnitsMax - units);
    units += text.length;
    for (const grapheme of graphemesOf(text)) {
      const width = textWidth(grapheme);
      // A grapheme wider than the row can never be shown.
      cells.push(width > widest ? { grapheme: grapheme === '\t' ? ' ' : '?', width: 1, span: part } : { grapheme, width, span: part });
    }
    if (text.length < part.text.length) {
      cells.push({ grapheme: marks.ellipsis, width: 1, span: part });
      break;
    }
  }
  return cells;
}

/** Where a row ends, and where the next one begins: spaces between both are drawn in neither. */
function breakAfter(cells: readonly Cell[], from: number, widest: number, anywhere: boolean): { end: number; next: number } {
  let width = 0;
  let at = from;
  let space = -1;
  for (; at < cells.length; at++) {
    const { width: taken = 0 } = cells[at] ?? {};
    if (width + taken > widest) break;
    width += taken;
    if (isSpace(cells[at])) space = at;
  }
  if (at >= cells.length) return { end: cells.length, next: cells.length };
  const breakAt = isSpace(cells[at]) ? at : space;
  // Indentation alone is no place to break.
  const isWordEnd = !anywhere && breakAt >= from && !cells.slice(from, breakAt + 1).every(isSpace);
  let end = isWordEnd ? breakAt : at;
  while (end > from && isSpace(cells[end - 1])) end--;
  return { end, next: isWordEnd ? skipSpaces(cells, breakAt) : at };
}

function isSpace(cell: Cell | undefined): boolean {
  return cell?.grapheme === ' ' || cell?.grapheme === '\t';
}

function skipSpaces(cells: readonly Cell[], from: number): number {
  let at = from;
  while (isSpace(cells[at])) at++;
  return at;
}

function toSpans(cells: readonly Cell[]): Span[] {
  const spans: Span[] = [];
  let style: Span | undefined;
  let text = '';
  for (const { grapheme, span } of cells) {
    if (span !== style) {
      if (style && text !== '') spans.push({ ...style, text });
      style = span;
      text = '';
    }
    text += grapheme;
  }
  if (style && text !== '') spans.push({ ...style, text });
  return spans;
}
