import type { Document } from '../document.js';
import { writePath } from '../mentions.js';
import { fuzzyFilter } from './fuzzy.js';
import { findTarget, type CommandEntry, type CompletionItem, type CompletionTarget, type PlacedTarget } from './targets.js';

export interface ShownCompletion {
  readonly items: readonly CompletionItem[];
  readonly selected: number;
}

export interface FoundPath {
  readonly path: string;
  /** `directory`, or something that completes no further. */
  readonly kind: string;
}

/** Completes commands, their arguments and mentioned paths at the cursor. */
export interface Completion {
  target(): CompletionTarget | undefined;
  /** At most `max` candidates around the selected one; undefined when there are none. */
  shown(max: number): ShownCompletion | undefined;
  /** Selects another candidate; the last one is followed by the first. */
  move(by: number): void;
  /** Inserts the selected candidate; false when none is shown. */
  accept(): boolean;
  /** Whether the selected candidate is written already, so that accepting it adds a space at most. */
  isWritten(): boolean;
  /** Hides the candidates until something else is to be completed; false when none is shown. */
  dismiss(): boolean;
  /** Candidates for a path, best first. They count as long as the query begins with theirs. */
  givePaths(query: string, files: readonly FoundPath[]): void;
  /** Candidates for an argument, likewise. */
  giveArguments(query: string, items: readonly CompletionItem[]): void;
}

interface Candidate extends CompletionItem {
  /** What takes the place of the target. */
  readonly written: string;
  /** Completion goes on behind it. */
  readonly isOpen?: boolean;
}

interface Given<T> {
  query: string;
  items: readonly T[];
}

interface Deps {
  document: Document;
  commands(): readonly CommandEntry[];
  /** Whether something else is shown in place of the text. */
  isHidden(): boolean;
}

export function createCompletion({ document, commands, isHidden }: Deps): Completion & {
  /** The text or the cursor has changed. */
  refresh(): void;
} {
  let paths: Given<FoundPath> | undefined;
  let given: (Given<CompletionItem> & { command: string }) | undefined;
  let selected = 0;
  /** What the candidates were made for. */
  let made: { key: string; candidates: readonly Candidate[] } | undefined;
  let dismissed: string | undefined;
  let acceptedRevision = -1;
  let changes = 0;

  function place(): PlacedTarget | undefined {
    if (isHidden()) return undefined;
    const cursor = document.cursor();
    return findTarget(document.lineText(cursor.line), cursor, commands);
  }

  /** Names what is being completed, whatever was typed of it so far. */
  function nameOf({ target, from }: PlacedTarget): string {
    return `${target.kind} ${document.cursor().line} ${from}`;
  }

  function candidatesOf(placed: PlacedTarget | undefined): readonly Candidate[] {
    if (!placed || document.revision() === acceptedRevision) return [];
    const name = nameOf(placed);
    if (dismissed === name) return [];
    const key = `${changes} ${document.revision()} ${name} ${placed.target.query}`;
    if (made?.key !== key) {
      made = { key, candidates: makeCandidates(placed) };
      selected = 0;
    }
    return made.candidates;
  }

  function makeCandidates({ target, command }: PlacedTarget): Candidate[] {
    if (target.kind === 'command') return commandCandidates(target.query);
    if (target.kind === 'path') return pathCandidates(target.query);
    const own = command?.complete?.(target.query) ?? [];
    const more = given?.command === target.command && target.query.startsWith(given.query) ? given.items : [];
    const items = [...own, ...more].filter(({ text }) => !text.includes('\n'));
    return fuzzyFilter(items, target.query, ({ text, detail = '' }) => `${text} ${detail}`).map(({ item }) => ({
      ...item,
      written: item.text,
    }));
  }

  function commandCandidates(query: string): Candidate[] {
    const names = commands().flatMap((entry) => [entry.name, ...(entry.aliases ?? [])].map((name) => ({ entry, name })));
    const entries = new Set(fuzzyFilter(names, query, ({ name }) => name).map(({ item }) => item.entry));
    return [...entries].map(({ name, summary, argumentHint }) => ({
      text: argumentHint === undefined ? `/${name}` : `/${name} ${argumentHint}`,
      detail: summary,
      written: `/${name}`,
    }));
  }

  function pathCandidates(query: string): Candidate[] {
    if (!paths || !query.startsWith(paths.query)) return [];
    // Until the answer to the longer query is there, the one before is filtered.
    const files = paths.query === query ? paths.items : fuzzyFilter(paths.items, query, ({ path }) => path).map(({ item }) => item);
    return files
      .filter(({ path }) => !/[\n\r]/.test(path))
      .map(({ path, kind }) => {
        if (kind !== 'directory') return { text: path, written: writePath(path) };
        const folder = path.endsWith('/') ? path : `${path}/`;
        return { text: folder, written: writePath(folder, true), isOpen: true };
      });
  }

  function write({ from, to, mention }: PlacedTarget, { written, isOpen = false }: Candidate): void {
    const { line } = document.cursor();
    const range = mention?.range ?? '';
    const end = to + range.length;
    const behind = document.lineText(line).charAt(end);
    const space = isOpen || /\s/.test(behind) ? '' : ' ';
    const text = `${written}${isOpen ? '' : range}${space}`;
    const step = !isOpen && space === '' ? 1 : 0;
    document.edit({ line, unit: from }, { line, unit: end }, text, { cursor: { line, unit: from + text.length + step } });
  }

  function isCurrent(query: string, before: Given<unknown> | undefined): boolean {
    const now = place()?.target.query;
    if (!now?.startsWith(query)) return false;
    // An answer that comes late does not replace one to a longer query.
    return !before || !now.startsWith(before.query) || query.length >= before.query.length;
  }

  return {
    refresh() {
      if (dismissed === undefined) return;
      const placed = place();
      if (!placed || nameOf(placed) !== dismissed) dismissed = undefined;
    },
    target: () => place()?.target,
    shown(max) {
      const candidates = candidatesOf(place());
      if (candidates.length === 0 || max < 1) return undefined;
      const first = Math.max(0, Math.min(selected - Math.floor(max / 2), candidates.length - max));
      const items = candidates.slice(first, first + max).map(({ text, detail }) => ({ text, ...(detail === undefined ? {} : { detail }) }));
      return { items, selected: selected - first };
    },
    move(by) {
      const { length } = candidatesOf(place());
      if (length > 0) selected = (((selected + by) % length) + length) % length;
    },
    accept() {
      const placed = place();
      const candidate = candidatesOf(placed)[selected];
      if (!placed || !candidate) return false;
      write(placed, candidate);
      const goesOn = candidate.isOpen === true || placed.target.kind === 'command';
      acceptedRevision = goesOn ? -1 : document.revision();
      return true;
    },
    isWritten() {
      const placed = place();
      const candidate = candidatesOf(placed)[selected];
      if (!placed || !candidate) return false;
      return document.lineText(document.cursor().line).slice(placed.from, placed.to) === candidate.written;
    },
    dismiss() {
      const placed = place();
      if (!placed || candidatesOf(placed).length === 0) return false;
      dismissed = nameOf(placed);
      return true;
    },
    givePaths(query, items) {
      if (place()?.target.kind !== 'path' || !isCurrent(query, paths)) return;
      paths = { query, items };
      changes++;
    },
    giveArguments(query, items) {
      const target = place()?.target;
      if (target?.kind !== 'argument' || !isCurrent(query, given?.command === target.command ? given : undefined)) return;
      given = { query, items, command: target.command };
      changes++;
    },
  };
}
