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
 * Saves what open messages have said: one timer and one transaction for all of them, only what is new, only while there are any.
 * A kill loses at most one interval.
 */
export function createCheckpoint({ store, bookkeeping, live, fault }: Deps) {
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  function save(): void {
    const { pieces: all, saved } = live.unsaved();
    // One that was ended a moment ago is in its entry.
    const pieces = all.filter(({ messageId }) => store.runs.isSaying(messageId));
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
    /** A message has said its first words. They are saved before anyone hears them, so that a message that was seen is never gone. */
    begin(): void {
      save();
      start();
    },
  };
}
