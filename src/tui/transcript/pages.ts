import type { AttachedSession } from '../../client/attach.js';
import type { SessionView } from '../../view/session-view.js';
import { createTranscript, type EntryList, type Transcript } from './entries.js';
import { createHistoryWindow, type HistoryWindow, type ReadPage } from './history-window.js';
import type { Anchor } from './window.js';

/** The entries that a reader is among: those of the attached view, or further back those of a window of the history. */
export interface Pages {
  entriesOf(view: SessionView, anchor: Anchor, rows: number): EntryList;
  /** Loads what is before the first entry; the reader is near it. */
  loadOlder(): void;
  /** Loads what is after the last entry of a window of the history. */
  loadNewer(): void;
  addEvent: Transcript['addEvent'];
}

interface Deps {
  attached: AttachedSession;
  isObserver: boolean;
  readPage: ReadPage;
  invalidate(): void;
  onProblem(text: string): void;
}

export function createPages({ attached, isObserver, readPage, invalidate, onProblem }: Deps): Pages {
  const live = createTranscript({ isObserver });
  let history: { window: HistoryWindow; transcript: Transcript } | undefined;

  function begin(): HistoryWindow {
    history ??= { window: createHistoryWindow(attached.view().messages, readPage), transcript: createTranscript() };
    return history.window;
  }

  function told(loading: Promise<unknown>): void {
    loading.then(invalidate, (error: unknown) =>
      onProblem(`messages could not be loaded: ${error instanceof Error ? error.message : String(error)}`),
    );
  }

  async function loadOlder(): Promise<void> {
    if (history) {
      await history.window.loadOlder();
      return;
    }
    const { full } = await attached.loadOlder();
    // The view has as many messages as it holds: further back, pages come and go.
    if (full) await begin().loadOlder();
  }

  return {
    entriesOf(view, anchor, rows) {
      const entries = live.entriesOf(view);
      if (!history) return entries;
      const { window, transcript } = history;
      const past = transcript.entriesOf({
        ...view,
        messages: window.messages(),
        open: [],
        tools: [],
        state: { ...view.state, run: null, lastRun: null },
      });
      const isWellInside = anchor === 'follow' || entries.indexOf(anchor.entryId) > 2 * rows;
      if (!isWellInside && past.indexOf(anchor.entryId) >= 0) return past;
      history = undefined;
      return entries;
    },
    loadOlder() {
      if (attached.view().hasMore) told(loadOlder());
    },
    loadNewer() {
      if (history) told(history.window.loadNewer());
    },
    addEvent: live.addEvent,
  };
}
