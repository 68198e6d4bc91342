import { emptyRow, type Row } from '../rows/row.js';
import type { Entry, EntryList } from './entries.js';

/** What a person looks at: the end, as it grows, or a row of an entry at the top of the window. Never an absolute line. */
export type Anchor = 'follow' | { readonly entryId: string; readonly row: number };

/** A row of an entry. */
export interface Place {
  readonly entry: Entry;
  readonly row: number;
}

export interface Window {
  readonly rows: readonly Row[];
  /** What each row shows; undefined for blank rows. */
  readonly places: readonly (Place | undefined)[];
  /** The first row of the first entry is visible. */
  readonly atTop: boolean;
  readonly atEnd: boolean;
}

export type RowsOf = (entry: Entry) => readonly Row[];

interface Spot {
  index: number;
  row: number;
}

/** The rows that are visible: costs as much as the window is high, whatever the length of the transcript. */
export function layWindow(entries: EntryList, rowsOf: RowsOf, anchor: Anchor, height: number): Window {
  const start = topSpot(entries, rowsOf, anchor, height);
  const rows: Row[] = [];
  const places: (Place | undefined)[] = [];
  let { index, row } = start;
  for (; index < entries.length && rows.length < height; index++, row = 0) {
    const entry = entries.at(index);
    if (!entry) break;
    const all = rowsOf(entry);
    for (; row < all.length && rows.length < height; row++) {
      rows.push(all[row] ?? emptyRow);
      places.push({ entry, row });
    }
    if (row < all.length) break;
  }
  const atEnd = index >= entries.length;
  while (rows.length < height) {
    rows.push(emptyRow);
    places.push(undefined);
  }
  return { rows, places, atTop: start.index === 0 && start.row === 0, atEnd };
}

/** The anchor after scrolling by some rows; up is negative. At the end it follows. */
export function scrollBy(entries: EntryList, rowsOf: RowsOf, anchor: Anchor, by: number, height: number): Anchor {
  const top = topSpot(entries, rowsOf, anchor, height);
  const moved = by < 0 ? stepUp(entries, rowsOf, top, -by) : stepDown(entries, rowsOf, top, by);
  const end = endSpot(entries, rowsOf, height);
  if (by > 0 && !isBefore(moved, end)) return 'follow';
  return anchorAt(entries, moved);
}

/** An anchor that shows a row of an entry at the top. */
export function anchorAt(entries: EntryList, { index, row }: Spot): Anchor {
  const entry = entries.at(index);
  return entry ? { entryId: entry.id, row } : 'follow';
}

function topSpot(entries: EntryList, rowsOf: RowsOf, anchor: Anchor, height: number): Spot {
  if (anchor === 'follow') return endSpot(entries, rowsOf, height);
  const index = entries.indexOf(anchor.entryId);
  if (index < 0) return endSpot(entries, rowsOf, height);
  const entry = entries.at(index);
  const last = entry ? rowsOf(entry).length - 1 : 0;
  return { index, row: Math.max(0, Math.min(anchor.row, last)) };
}

/** Where the window begins that ends with the last row. */
function endSpot(entries: EntryList, rowsOf: RowsOf, height: number): Spot {
  return stepUp(entries, rowsOf, { index: entries.length, row: 0 }, height);
}

function stepUp(entries: EntryList, rowsOf: RowsOf, { index, row }: Spot, by: number): Spot {
  let left = by - row;
  let at = index;
  if (left <= 0) return { index, row: row - by };
  while (at > 0) {
    at--;
    const entry = entries.at(at);
    const count = entry ? rowsOf(entry).length : 0;
    if (count >= left) return { index: at, row: count - left };
    left -= count;
  }
  return { index: 0, row: 0 };
}

function stepDown(entries: EntryList, rowsOf: RowsOf, { index, row }: Spot, by: number): Spot {
  let left = by + row;
  let at = index;
  while (at < entries.length) {
    const entry = entries.at(at);
    const count = entry ? rowsOf(entry).length : 0;
    if (left < count) return { index: at, row: left };
    left -= count;
    at++;
  }
  return { index: entries.length, row: 0 };
}

function isBefore(a: Spot, b: Spot): boolean {
  return a.index < b.index || (a.index === b.index && a.row < b.row);
}
