import { limits } from '../../protocol/limits.js';
import type { ReadStore } from '../../store/store.js';
import type { Bookkeeping } from './commit.js';
import type { FaultPoint } from './fault-points.js';
import type { LiveMessages } from '../live/live-messages.js';

interface Deps {
  store: ReadStore;
  bookkeeping: Bookkeeping;
  live: LiveMessages;
  fault(point: FaultPoint): void;
}

/**
 * Saves the text of streaming messages: one timer and one transaction for all of them, only new text, only while a message is open.
 * A crash loses at most one interval.
 */
export function createCheckpoint({ store, bookkeeping, live, fault }: Deps) {
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  function save(): void {
    const { pieces: all, saved } = live.unsaved();
    // A message that ended since is whole in its entry.
    const pieces = all.filter(({ messageId }) => store.runs.isStreaming(messageId));
    const done = pieces.length === 0 || bookkeeping.tryMaintain(({ partials }) => pieces.forEach((piece) => partials.append(piece)));
    if (done) saved();
    fault('checkpoint.saved');
  }

  function start(): void {
    if (timer || stopped || !live.hasOpen()) return;
    timer = setTimeout(() => {
      timer = undefined;
      save();
      start();
    }, limits.checkpointMs);
  }

  return {
    stop(): void {
      stopped = true;
      clearTimeout(timer);
    },
    /** Saves the first text of a message before any subscriber reads it, so that a message that was seen survives a crash. */
    begin(): void {
      save();
      start();
    },
  };
}
