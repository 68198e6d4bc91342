import type { Interface } from 'node:readline';

/** Stands for a line end in a line that was several. */
const lineEndMark = '⏎';

/** What was typed before, newest first, as the up arrow of a reader brings it back: whole texts, also those of several lines. */
export interface TypedHistory {
  /** A text that was sent or given up. */
  remember(text: string): void;
  /** The line has changed: is it one that the arrows brought back? */
  look(): void;
  /** The text that a line stands for. */
  toText(line: string): string;
}

export function createTypedHistory(reader: Interface, entriesMax: number): TypedHistory {
  let entries: string[] = [];
  /** The reader's own list. */
  let list: string[] | undefined;
  /** Those of the entries that are several lines. */
  const joined = new Set<string>();
  let recalled = false;

  function fill(): void {
    list?.splice(0, list.length, ...entries);
  }

  // The reader adds every line of a paste by itself; what counts is what is remembered here.
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
      for (const known of joined) if (!entries.includes(known)) joined.delete(known);
      const { history, historyIndex } = reader as unknown as { history?: string[]; historyIndex?: number };
      list ??= history;
      fill();
      // A line that was given up in the middle of the list leaves the place there; the next up arrow means the newest.
      if (historyIndex !== undefined) (reader as unknown as { historyIndex: number }).historyIndex = -1;
    },
    look() {
      recalled = reader.line.includes(lineEndMark) && (recalled || joined.has(reader.line));
    },
    toText: (line) => (recalled ? line.replaceAll(lineEndMark, '\n') : line),
  };
}
