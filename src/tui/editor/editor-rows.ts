import { textHead, textWidth } from '../rows/cells.js';
import { clipSpans, row, span, type Row, type Span } from '../rows/row.js';
import { borderFrom, drawnGrapheme, scanCells } from './borders.js';
import type { DrawnText, Editor } from './editor.js';
import { columnOf, roomOf, rowOf, rowStarts, type RowPlace } from './line-layout.js';

export interface EditorRowsOptions {
  /** In front of the first row. */
  prompt: string;
  /** Shown while the editor is empty. */
  placeholder?: string;
}

export interface EditorRows {
  rows: Row[];
  cursor: { row: number; column: number };
}

/** A prompt leaves at least this to the text. */
const layout = { textColumnsMin: 4 } as const;

/** The first row that was shown of each editor: the text does not move while the cursor stays in sight. */
const tops = new WeakMap<Editor, RowPlace>();

/** The rows of an editor, at most `rowsMax` of them, among which the cursor is. */
export function editorRows(editor: Editor, columns: number, rowsMax: number, { prompt, placeholder = '' }: EditorRowsOptions): EditorRows {
  const wanted = textWidth(prompt) + 1;
  const lead = columns - wanted >= layout.textColumnsMin ? wanted : 0;
  const textColumns = Math.max(1, columns - lead);
  editor.setColumns(textColumns);
  const drawn = editor.drawn();
  const first: Span[] = lead === 0 ? [] : [span(`${prompt} `, 'accent')];
  const gutter = { gutter: lead };
  if (drawn.isEmpty) {
    const spans = [...first, ...clipSpans([span(placeholder, 'muted')], textColumns)];
    return { rows: [{ spans: placeholder === '' ? first : spans, ...gutter }], cursor: { row: 0, column: lead } };
  }
  const cursor = { line: drawn.cursor.line, unit: borderFrom(drawn.lines[drawn.cursor.line]?.text ?? '', drawn.cursor.unit) };
  const startsOf = (line: number): readonly number[] => {
    const found = drawn.lines[line];
    return found ? rowStarts(found, textColumns, drawn.tokens) : [];
  };
  const at = { line: cursor.line, row: rowOf(startsOf(cursor.line), cursor.unit) };
  const { places, hasMore } = placesAround(at, tops.get(editor), Math.max(1, rowsMax), startsOf);
  const [top = at] = places;
  tops.set(editor, top);
  const rows = places.map((place, index): Row => {
    const starts = startsOf(place.line);
    const spans = rowSpans(drawn, place, starts, textColumns);
    const isStart = place.line === 0 && place.row === 0;
    const mark = isStart ? prompt : index === 0 ? '↑' : hasMore && index === places.length - 1 ? '↓' : '';
    const head = lead === 0 ? [] : isStart ? first : [span(mark.padEnd(lead), 'muted')];
    return { spans: [...head, ...spans], ...gutter, ...(place.row > 0 ? { continues: '' } : {}) };
  });
  const text = drawn.lines[cursor.line]?.text ?? '';
  const column = columnOf(text, startsOf(cursor.line)[at.row] ?? 0, cursor.unit, textColumns, drawn.tokens);
  const shownAt = places.findIndex(({ line, row: index }) => line === at.line && index === at.row);
  return { rows: rows.length === 0 ? [row()] : rows, cursor: { row: Math.max(0, shownAt), column: lead + column } };
}

type StartsOf = (line: number) => readonly number[];

/** The rows that are shown: from the top of before when the cursor is in sight from there. */
function placesAround(
  cursor: RowPlace,
  before: RowPlace | undefined,
  rowsMax: number,
  startsOf: StartsOf,
): { places: RowPlace[]; hasMore: boolean } {
  const earliest = back(cursor, rowsMax - 1, startsOf);
  const isAbove = before !== undefined && compare(before, earliest) >= 0;
  const isInSight = isAbove && compare(before, cursor) <= 0 && before.row < startsOf(before.line).length;
  const from = isInSight ? before : isAbove ? cursor : earliest;
  let places = forward(from, rowsMax + 1, startsOf);
  const missing = rowsMax - places.length;
  // The end of a text leaves no rows empty.
  if (missing > 0) places = [...forward(back(from, missing, startsOf), rowsMax + 1, startsOf)];
  return { places: places.slice(0, rowsMax), hasMore: places.length > rowsMax };
}

function compare(a: RowPlace, b: RowPlace): number {
  return a.line - b.line || a.row - b.row;
}

function back(from: RowPlace, rows: number, startsOf: StartsOf): RowPlace {
  let { line, row: index } = from;
  for (let left = rows; left > 0; left--) {
    if (index > 0) index--;
    else if (line > 0) index = startsOf(--line).length - 1;
    else break;
  }
  return { line, row: index };
}

function forward(from: RowPlace, rows: number, startsOf: StartsOf): RowPlace[] {
  const places: RowPlace[] = [];
  for (let { line, row: index } = from; places.length < rows;) {
    const { length } = startsOf(line);
    if (length === 0) break;
    places.push({ line, row: index });
    if (++index < length) continue;
    line++;
    index = 0;
  }
  return places;
}

function rowSpans({ lines, tokens }: DrawnText, place: RowPlace, starts: readonly number[], columns: number): Span[] {
  const text = lines[place.line]?.text ?? '';
  const start = starts[place.row] ?? 0;
  const end = starts[place.row + 1] ?? text.length;
  const spans: Span[] = [];
  const cells = scanCells(text, start, tokens.widthOf);
  const room = roomOf(columns);
  let plain = '';
  let used = 0;
  while (cells.end < end && cells.next()) {
    const grapheme = text.slice(cells.start, cells.end);
    const label = tokens.labelOf(grapheme);
    const shown = fitText(label ?? drawnGrapheme(grapheme), cells.width, grapheme === ' ' || grapheme === '\t' ? columns - used : room);
    used += Math.min(cells.width, room);
    if (label === undefined) plain += shown;
    else {
      if (plain !== '') spans.push(span(plain));
      plain = '';
      spans.push(span(shown, 'accent'));
    }
  }
  if (plain !== '') spans.push(span(plain));
  return spans;
}

/** What is wider than a row is cut. */
function fitText(text: string, width: number, room: number): string {
  if (width <= room) return text;
  if (/^ +$/.test(text)) return text.slice(0, room);
  if (room === 1) return '?';
  const head = textHead(text, room - 1);
  return `${head}…${' '.repeat(room - 1 - textWidth(head))}`;
}
