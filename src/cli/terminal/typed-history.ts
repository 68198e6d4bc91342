import type { Interface } from 'node:readline';

/** Stands for a line ending in a recalled multi-line text. */
const lineEndMark = '⏎';

/** The input history of a readline interface, newest first, with multi-line texts as single entries. */
export interface TypedHistory {
  /** Adds a text that was sent or cleared. */
  remember(text: string): void;
  /** Call after each change of the line: notes whether the line is a recalled multi-line entry. */
  noteRecall(): void;
  /** The multi-line text of a recalled line. */
  toText(line: string): string;
}

export function createTypedHistory(reader: Interface, entriesMax: number): TypedHistory {
  let entries: string[] = [];
  /** The history array of readline. */
  let list: string[] | undefined;
  /** The multi-line entries. */
  const joined = new Set<string>();
  let recalled = false;

  function fill(): void {
    list?.splice(0, list.length, ...entries);
  }

  // readline adds every line of a paste separately: its list is overwritten.
  reader.on('history', (history) => {
    list = history;
    fill();
  });

  return {
    remember(text) {
      if (text.trim() === '') return;
      const entry = text.replaceAll('\n', lineEndMark);
      if (entry !== text) joined.add(entry);
      entries = [entry, ...entries.filter((other) => other !== entry)].slice(0, entriesMax);
      for (const old of joined) if (!entries.includes(old)) joined.delete(old);
      const { history, historyIndex } = reader as unknown as { history?: string[]; historyIndex?: number };
      list ??= history;
      fill();
      // Resets the position: after a cleared line the next up arrow means the newest entry.
      if (historyIndex !== undefined) (reader as unknown as { historyIndex: number }).historyIndex = -1;
    },
    noteRecall() {
      recalled = reader.line.includes(lineEndMark) && (recalled || joined.has(reader.line));
    },
    toText: (line) => (recalled ? line.replaceAll(lineEndMark, '\n') : line),
  };
}
