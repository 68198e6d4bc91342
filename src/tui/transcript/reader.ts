import type { AttachedSession } from '../../client/attach.js';
import type { SessionView } from '../../view/session-view.js';
import { rowText, span, type Row } from '../rows/row.js';
import type { Entry, EntryList } from './entries.js';
import { createEntryRenderer } from './entry-rows.js';
import type { Folds } from './folds.js';
import type { ReadPage } from './history-window.js';
import { createPages } from './pages.js';
import { highlightRow, selectedText, type Selection } from './selection.js';
import { anchorAt, layWindow, scrollBy, type Anchor, type Place, type Window } from './window.js';

/** The transcript as a person reads it: where they are, what is folded, chosen and selected. */
export interface Reader {
  window(view: SessionView, columns: number, height: number): Window;
  /** Takes the entries of a view that was not painted yet, so that they can be found. */
  refresh(view: SessionView): void;
  /** Shows an event that this version does not know. */
  addEvent(event: { type: string; id: string; payload: unknown }): void;
  scroll(by: number): void;
  page(direction: 1 | -1): void;
  follow(): void;
  isFollowing(): boolean;
  toStart(): void;
  /** To the prompt before or after the first visible row. */
  toPrompt(direction: 1 | -1): void;
  /** Moves the cursor among the entries; undefined takes it away. */
  choose(direction: 1 | -1 | undefined): void;
  chosen(): Entry | undefined;
  toggleFold(entry: Entry, isForKind?: boolean): void;
  /** Selects from one place of the window to another. */
  select(from: Spot, to: Spot): void;
  clearSelection(): void;
  selection(): string;
  entryText(entry: Entry): string;
  /** Looks for a text among what is loaded: a new search at the cursor, others behind it. */
  find(text: string, direction: 1 | -1, isNew?: boolean): boolean;
  setMark(text: string): void;
}

/** A cell of the window that was painted last. */
export interface Spot {
  row: number;
  column: number;
}

interface Deps {
  attached: AttachedSession;
  isObserver: boolean;
  folds: Folds;
  readPage: ReadPage;
  invalidate(): void;
  onProblem(text: string): void;
}

export function createReader({ attached, isObserver, folds, readPage, invalidate, onProblem }: Deps): Reader {
  const pages = createPages({ attached, isObserver, readPage, invalidate, onProblem });
  let width = 80;
  const { rowsOf } = createEntryRenderer(folds, () => width);
  let anchor: Anchor = 'follow';
  let entries: EntryList = { length: 0, at: () => undefined, indexOf: () => -1 };
  let shown: Window | undefined;
  let rows = 1;
  let chosenId: string | undefined;
  let selection: Selection | undefined;
  let mark = '';
  /** The row of the last match. */
  let found: { entryId: string; row: number } | undefined;

  function moveTo(next: Anchor): void {
    anchor = next;
    selection = undefined;
    invalidate();
  }

  function scroll(by: number): void {
    moveTo(scrollBy(entries, rowsOf, anchor, by, rows));
    if (by < 0 && isNearStart()) pages.loadOlder();
    if (by > 0 && isNearEnd()) pages.loadNewer();
  }

  function isNearStart(): boolean {
    return anchor !== 'follow' && entries.indexOf(anchor.entryId) < rows;
  }

  function isNearEnd(): boolean {
    return anchor !== 'follow' && entries.length - entries.indexOf(anchor.entryId) < 2 * rows;
  }

  /** The first entry of the window. */
  function topIndex(): number {
    const first = shown?.places.find((place) => place !== undefined);
    return first ? entries.indexOf(first.entry.id) : entries.length;
  }

  function showEntry(index: number): void {
    moveTo(anchorAt(entries, { index, row: 0 }));
    if (isNearStart()) pages.loadOlder();
  }

  function isVisible(index: number): boolean {
    const entry = entries.at(index);
    return shown?.places.some((place) => place?.entry.id === entry?.id) ?? false;
  }

  function decorate(line: Row, place: Place | undefined): Row {
    let decorated = line;
    if (place && selection) decorated = highlightRow(decorated, place, selection, entries);
    if (mark !== '' && rowText(line).toLowerCase().includes(mark)) decorated = markMatches(decorated, mark);
    if (place && place.entry.id === chosenId) decorated = { ...decorated, spans: [span('▌', 'accent'), ...shiftLeft(decorated)] };
    return decorated;
  }

  return {
    window(view, columns, height) {
      width = Math.max(1, columns);
      rows = Math.max(1, height);
      entries = pages.entriesOf(view, anchor, rows);
      const laid = layWindow(entries, rowsOf, anchor, height);
      // What is followed at the end is followed again once it is reached.
      const needsDecoration = selection !== undefined || mark !== '' || chosenId !== undefined;
      shown = needsDecoration ? { ...laid, rows: laid.rows.map((line, at) => decorate(line, laid.places[at])) } : laid;
      return shown;
    },
    addEvent(event) {
      pages.addEvent(event);
      invalidate();
    },
    refresh: (view) => void (entries = pages.entriesOf(view, anchor, rows)),
    scroll,
    page: (direction) => scroll(direction * Math.max(1, rows - 2)),
    follow: () => moveTo('follow'),
    isFollowing: () => anchor === 'follow',
    toStart() {
      showEntry(0);
      pages.loadOlder();
    },
    toPrompt(direction) {
      let index = anchor === 'follow' && direction < 0 ? entries.length : topIndex();
      do index += direction;
      while (index >= 0 && index < entries.length && entries.at(index)?.kind !== 'user');
      if (index >= entries.length) moveTo('follow');
      else showEntry(Math.max(0, index));
    },
    choose(direction) {
      if (direction === undefined) chosenId = undefined;
      else {
        const at = chosenId === undefined ? -1 : entries.indexOf(chosenId);
        const from = at >= 0 ? at + direction : lastVisible();
        const index = Math.max(0, Math.min(entries.length - 1, from));
        chosenId = entries.at(index)?.id;
        if (!isVisible(index)) showEntry(index);
      }
      invalidate();
    },
    chosen: () => (chosenId === undefined ? undefined : entries.at(entries.indexOf(chosenId))),
    toggleFold(entry, isForKind = false) {
      // The folded line stays where it is.
      const at = shown?.places.findIndex((place) => place?.entry.id === entry.id) ?? -1;
      if (isForKind) folds.toggleKind(entry);
      else folds.toggle(entry);
      if (at >= 0 && anchor !== 'follow') moveTo(scrollBy(entries, rowsOf, { entryId: entry.id, row: 0 }, -at, rows));
      invalidate();
    },
    select(from, to) {
      const start = shown?.places[from.row];
      const end = shown?.places[to.row];
      if (!start || !end) return;
      selection = { from: { ...placeId(start), column: from.column }, to: { ...placeId(end), column: to.column } };
      invalidate();
    },
    clearSelection() {
      selection = undefined;
      invalidate();
    },
    selection: () => (selection ? selectedText(entries, rowsOf, selection) : ''),
    entryText: (entry) => textOf(entry),
    find(text, direction, isNew = false) {
      const wanted = text.toLowerCase();
      const at = found && entries.indexOf(found.entryId) >= 0 ? { index: entries.indexOf(found.entryId), row: found.row } : undefined;
      const chosenAt = chosenId === undefined ? -1 : entries.indexOf(chosenId);
      const first = { index: direction < 0 ? entries.length - 1 : Math.max(0, topIndex()), row: direction < 0 ? Infinity : -1 };
      const start = !isNew && at ? at : chosenAt >= 0 ? { ...first, index: chosenAt } : first;
      let { row } = start;
      for (let { index } = start; index >= 0 && index < entries.length; index += direction, row = direction < 0 ? Infinity : -1) {
        const entry = entries.at(index);
        if (!entry || !textOf(entry).toLowerCase().includes(wanted)) continue;
        const hit = rowWith(entry, wanted, row, direction);
        if (hit === undefined) continue;
        found = { entryId: entry.id, row: hit };
        chosenId = entry.id;
        moveTo({ entryId: entry.id, row: hit });
        if (isNearStart()) pages.loadOlder();
        return true;
      }
      return false;
    },
    setMark(text) {
      mark = text.toLowerCase();
      found = undefined;
      invalidate();
    },
  };

  /** The next row of an entry with a text; its first row when the text is only in what is folded or across a wrap. */
  function rowWith(entry: Entry, wanted: string, from: number, direction: 1 | -1): number | undefined {
    const lines = rowsOf(entry);
    const has = (line: Row): boolean => rowText(line).toLowerCase().includes(wanted);
    if (!lines.some(has)) return from === -1 || from === Infinity ? 0 : undefined;
    const hit =
      direction < 0 ? lines.findLastIndex((line, at) => at < from && has(line)) : lines.findIndex((line, at) => at > from && has(line));
    return hit < 0 ? undefined : hit;
  }

  function lastVisible(): number {
    const last = shown?.places.findLast((place) => place !== undefined);
    return last ? entries.indexOf(last.entry.id) : entries.length - 1;
  }
}

function placeId({ entry, row }: Place): { entryId: string; row: number } {
  return { entryId: entry.id, row };
}

/** What an entry says, without how it looks. */
function textOf(entry: Entry): string {
  switch (entry.kind) {
    case 'tool':
      return [entry.tool.headline, entry.tool.reason ?? '', entry.tool.diff ?? entry.tool.output].filter((text) => text !== '').join('\n');
    case 'stream':
      return entry.stream.text();
    case 'summary':
    case 'event':
      return `${entry.headline}\n${entry.text}`;
    default:
      return entry.text;
  }
}

const gutterSigns = ' ❯│┊┃';

/** The cursor of the transcript takes the first cell, which is a gutter or blank in most rows. */
function shiftLeft({ spans }: Row): Row['spans'] {
  const [first, ...rest] = spans;
  return first && first.text !== '' && gutterSigns.includes(first.text.charAt(0))
    ? [{ ...first, text: first.text.slice(1) }, ...rest]
    : spans;
}

function markMatches({ spans, ...rest }: Row, wanted: string): Row {
  return {
    ...rest,
    spans: spans.flatMap((part) => {
      const at = part.text.toLowerCase().indexOf(wanted);
      if (at < 0) return [part];
      const end = at + wanted.length;
      return [
        { ...part, text: part.text.slice(0, at) },
        { ...part, text: part.text.slice(at, end), reverse: true },
        { ...part, text: part.text.slice(end) },
      ].filter(({ text }) => text !== '');
    }),
  };
}
