import type { Document } from './document.js';
import { draftPlace, type History, type HistoryEntry } from './history.js';
import { endOf, startPosition } from './text-buffer.js';

/** Brings texts of the history into the editor, and the draft back. */
export interface Recall {
  /** Whether the text is one of the history that was just brought back, so that Up and Down go on through the history. */
  isWalking(): boolean;
  stopWalking(): void;
  /** Both are false when there is nothing further. */
  older(): boolean;
  newer(): boolean;
  /** Puts an entry into the editor; the draft is kept. */
  to(entry: HistoryEntry): void;
}

export function createRecall(document: Document, history: History): Recall {
  let isWalking = false;

  function leave(): void {
    history.leave(document.place(), { text: document.text(), cursor: document.cursor() });
  }

  function walkTo(entry: HistoryEntry | undefined): void {
    leave();
    const place = entry?.id ?? draftPlace;
    const left = history.leftAt(place);
    const text = left?.text ?? entry?.text ?? '';
    document.replaceAll(text, { kind: 'recall', place, cursor: left?.cursor ?? endOf(startPosition, text) });
    isWalking = true;
  }

  return {
    isWalking: () => isWalking && document.place() !== draftPlace,
    stopWalking() {
      isWalking = false;
    },
    older() {
      const entry = history.older(document.place());
      if (!entry) return false;
      walkTo(entry);
      return true;
    },
    newer() {
      if (document.place() === draftPlace) return false;
      walkTo(history.newer(document.place()));
      return true;
    },
    to(entry) {
      leave();
      document.replaceAll(entry.text, { place: entry.id });
      isWalking = false;
    },
  };
}
