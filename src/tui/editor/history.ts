import { limits } from '../../protocol/limits.js';
import type { Position } from './text-buffer.js';

/** A text that was sent or cleared, with its placeholders as characters. */
export interface HistoryEntry {
  readonly id: number;
  readonly text: string;
  readonly bytes: number;
}

interface Left {
  text: string;
  cursor: Position;
}

/** The place of a text that is not of the history: the draft. */
export const draftPlace = 0;

/** The texts of before, newest first, and what became of those that were looked at since. */
export interface History {
  entries(): readonly HistoryEntry[];
  /** Adds older texts behind those that are there, newest first. */
  load(texts: readonly string[]): void;
  add(text: string): void;
  older(place: number): HistoryEntry | undefined;
  /** The entry after a place; undefined means the draft. */
  newer(place: number): HistoryEntry | undefined;
  /** Keeps the text of a place while another one is looked at. */
  leave(place: number, left: Left): void;
  /** What a place was left with. */
  leftAt(place: number): Left | undefined;
  /** Adds the drafts and changed entries that were left, except for one place, and forgets what was left. */
  settle(except: number): void;
  texts(): Iterable<string>;
}

const tuning = { bytesMax: 32 * 1024 * 1024 } as const;

export function createHistory(bytesOf: (text: string) => number): History {
  let entries: HistoryEntry[] = [];
  let lastId = draftPlace;
  const left = new Map<number, Left>();

  function bound(): void {
    let bytes = 0;
    const end = entries.findIndex((entry, index) => (bytes += entry.bytes) > tuning.bytesMax && index > 0);
    entries = entries.slice(0, Math.min(end === -1 ? entries.length : end, limits.typedHistoryMax));
  }

  function add(text: string): void {
    if (text.trim() === '') return;
    entries = [{ id: ++lastId, text, bytes: bytesOf(text) }, ...entries.filter((entry) => entry.text !== text)];
    bound();
  }

  return {
    entries: () => entries,
    load(texts) {
      const known = new Set(entries.map(({ text }) => text));
      for (const text of texts) {
        if (known.has(text) || text.trim() === '') continue;
        known.add(text);
        entries.push({ id: ++lastId, text, bytes: bytesOf(text) });
      }
      bound();
    },
    add,
    older: (place) => entries[entries.findIndex(({ id }) => id === place) + 1],
    newer: (place) => entries[entries.findIndex(({ id }) => id === place) - 1],
    leave: (place, what) => void left.set(place, what),
    leftAt: (place) => left.get(place),
    settle(except) {
      const unsent = [...left].filter(([place, { text }]) => place !== except && entries.find(({ id }) => id === place)?.text !== text);
      left.clear();
      // What is added last is found first: the draft.
      for (const [, { text }] of unsent.sort(([a], [b]) => b - a)) add(text);
    },
    *texts() {
      for (const { text } of [...entries, ...left.values()]) yield text;
    },
  };
}
