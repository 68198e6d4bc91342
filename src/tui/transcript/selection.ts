import { graphemesOf } from '../kit/graphemes.js';
import { textWidth } from '../rows/cells.js';
import { spansWidth, type Row, type Span } from '../rows/row.js';
import type { EntryList } from './entries.js';
import type { Place, RowsOf } from './window.js';

/** A cell of the transcript. */
export interface SelectedCell {
  readonly entryId: string;
  readonly row: number;
  readonly column: number;
}

export interface Selection {
  readonly from: SelectedCell;
  readonly to: SelectedCell;
}

/** The selected logical text: without gutters, and with wrapped lines whole again. */
export function selectedText(entries: EntryList, rowsOf: RowsOf, selection: Selection): string {
  const { first, last } = ordered(entries, selection);
  let text = '';
  let isStart = true;
  for (let index = entries.indexOf(first.entryId); index >= 0 && index <= entries.indexOf(last.entryId); index++) {
    const entry = entries.at(index);
    if (!entry) break;
    for (const [at, line] of rowsOf(entry).entries()) {
      if (entry.id === first.entryId && at < first.row) continue;
      if (entry.id === last.entryId && at > last.row) break;
      const from = entry.id === first.entryId && at === first.row ? first.column : 0;
      const to = entry.id === last.entryId && at === last.row ? last.column + 1 : Infinity;
      const piece = cells(line, Math.max(from, line.gutter ?? 0), to);
      const isWhole = to === Infinity;
      text += `${isStart ? '' : (line.continues ?? '\n')}${isWhole ? piece.trimEnd() : piece}`;
      isStart = false;
    }
  }
  return text;
}

/** A row with its selected cells reversed. */
export function highlightRow(line: Row, { entry, row }: Place, selection: Selection, entries: EntryList): Row {
  const { first, last } = ordered(entries, selection);
  const index = entries.indexOf(entry.id);
  const start = entries.indexOf(first.entryId);
  const end = entries.indexOf(last.entryId);
  if (index < start || index > end || (index === start && row < first.row) || (index === end && row > last.row)) return line;
  const from = Math.max(line.gutter ?? 0, index === start && row === first.row ? first.column : 0);
  const to = index === end && row === last.row ? last.column + 1 : Infinity;
  return { ...line, spans: reversed(line.spans, from, to) };
}

function ordered(entries: EntryList, { from, to }: Selection): { first: SelectedCell; last: SelectedCell } {
  const difference = entries.indexOf(from.entryId) - entries.indexOf(to.entryId) || from.row - to.row || from.column - to.column;
  return difference <= 0 ? { first: from, last: to } : { first: to, last: from };
}

function cells({ spans, trailing = 0 }: Row, from: number, to: number): string {
  const end = trailing === 0 ? to : Math.min(to, spansWidth(spans) - trailing);
  let column = 0;
  let text = '';
  for (const grapheme of graphemesOf(spans.map((part) => part.text).join(''))) {
    if (column >= from && column < end) text += grapheme;
    column += textWidth(grapheme);
  }
  return text;
}

function reversed(spans: readonly Span[], from: number, to: number): Span[] {
  let column = 0;
  return spans.flatMap((part) => {
    const pieces: Span[] = [];
    for (const grapheme of graphemesOf(part.text)) {
      const isIn = column >= from && column < to;
      const last = pieces.at(-1);
      if (last && Boolean(last.reverse) === (isIn || Boolean(part.reverse)))
        pieces[pieces.length - 1] = { ...last, text: last.text + grapheme };
      else pieces.push({ ...part, text: grapheme, ...(isIn ? { reverse: true } : {}) });
      column += textWidth(grapheme);
    }
    return pieces;
  });
}
