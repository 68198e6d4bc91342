import type { History, HistoryEntry } from './history.js';
import { linesOf, startPosition, type Line, type Position } from './text-buffer.js';

export interface SearchState {
  readonly query: string;
  /** Newest first. */
  readonly matches: readonly string[];
  readonly selected: number;
}

/** Searches the history; the text in the editor stays as it is until a match is accepted. */
export interface HistorySearch {
  /** Opens the search; once it is open, goes to the next older match. */
  open(): void;
  /** Undefined when no search is open. */
  state(): SearchState | undefined;
  type(text: string): void;
  backspace(): void;
  older(): void;
  newer(): void;
  /** Puts the match into the editor. */
  accept(): void;
  cancel(): void;
}

export interface SearchedDocument {
  lines: readonly Line[];
  cursor: Position;
}

interface Deps {
  history: History;
  show(text: string): string;
  /** The last grapheme of a query is taken away. */
  shorten(query: string): string;
  recall(entry: HistoryEntry): void;
}

interface Candidate {
  entry: HistoryEntry;
  shown: string;
  lower: string;
}

export function createHistorySearch({ history, show, shorten, recall }: Deps): HistorySearch & {
  /** The match as it is drawn; undefined when there is none. */
  drawn(): SearchedDocument | undefined;
} {
  let candidates: readonly Candidate[] = [];
  let found: readonly Candidate[] = [];
  let state: SearchState | undefined;
  let drawn: { shown: string; document: SearchedDocument } | undefined;

  function search(query: string): void {
    const terms = termsOf(query);
    found = candidates.filter(({ lower }) => terms.every((term) => lower.includes(term)));
    state = { query, matches: found.map(({ shown }) => shown), selected: 0 };
  }

  function select(by: number): void {
    if (state) state = { ...state, selected: Math.max(0, Math.min(found.length - 1, state.selected + by)) };
  }

  function close(): void {
    state = undefined;
    candidates = [];
    found = [];
    drawn = undefined;
  }

  return {
    open() {
      if (state) {
        select(1);
        return;
      }
      candidates = history.entries().map((entry) => {
        const shown = show(entry.text);
        return { entry, shown, lower: shown.toLowerCase() };
      });
      search('');
    },
    state: () => state,
    type(text) {
      if (state) search(`${state.query}${text.replaceAll('\n', ' ')}`);
    },
    backspace() {
      if (state) search(shorten(state.query));
    },
    older: () => select(1),
    newer: () => select(-1),
    accept() {
      const entry = found[state?.selected ?? 0]?.entry;
      close();
      if (entry) recall(entry);
    },
    cancel: close,
    drawn() {
      const match = state && found[state.selected];
      if (!match) return undefined;
      if (drawn?.shown !== match.shown) drawn = { shown: match.shown, document: { lines: linesOf(match.shown), cursor: startPosition } };
      return { ...drawn.document, cursor: placeOf(termsOf(state?.query ?? '')[0], drawn.document.lines) };
    },
  };
}

function termsOf(query: string): string[] {
  return query
    .toLowerCase()
    .split(/\s+/)
    .filter((term) => term !== '');
}

/** Where a term begins. A place inside of a grapheme is drawn at its end. */
function placeOf(term: string | undefined, lines: readonly Line[]): Position {
  if (term === undefined) return startPosition;
  const line = lines.findIndex(({ text }) => text.toLowerCase().includes(term));
  return line === -1 ? startPosition : { line, unit: lines[line]?.text.toLowerCase().indexOf(term) ?? 0 };
}
