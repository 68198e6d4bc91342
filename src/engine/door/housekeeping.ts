import { limits } from '../../protocol/limits.js';
import type { ReadStore } from '../../store/store.js';
import type { Bookkeeping, BookkeepingRows } from './commit.js';

interface Deps {
  store: ReadStore;
  bookkeeping: Bookkeeping;
  now(): number;
  /** Removes what a deleted session has outside of the store. */
  dropFiles(sessionId: string): void;
}

/**
 * Sweeps deleted sessions, prunes the log and keeps the search up to date, in small batches between other work;
 * nothing happens while there is nothing to do.
 */
export function createHousekeeping({ store, bookkeeping, now, dropFiles }: Deps) {
  let scheduled = false;
  let stopped = false;
  let removed = false;
  let reading: NodeJS.Timeout | undefined;
  let prunedAt = store.log.head();

  /** True when there is more to do and the store takes it. */
  function step(): boolean {
    const [sessionId] = store.sessions.deleted();
    if (sessionId !== undefined) dropFiles(sessionId);
    let more = false;
    const done = bookkeeping.tryMaintain(({ sweep, log }) => {
      if (sessionId !== undefined) sweep.batch(sessionId);
      more = sessionId !== undefined || log.prune(now());
      if (more) removed = true;
      // Space is given back last, and only when something was removed: a store that only grows keeps its pages.
      else if (removed) removed = more = sweep.giveBack();
    });
    return done && more;
  }

  function work(): void {
    scheduled = false;
    if (!stopped && step()) schedule();
  }

  function schedule(): void {
    if (scheduled || stopped) return;
    scheduled = true;
    setImmediate(work);
  }

  const readOn = ({ search }: BookkeepingRows): void => search.readOn();

  /** A batch of words, and when there are more, soon the next. A store that does not take them now is asked again after the next commit. */
  function read(): void {
    reading = undefined;
    if (!stopped && store.isOpen() && store.search.isBehind() && bookkeeping.tryMaintain(readOn) && store.search.isBehind())
      setImmediate(read);
  }

  return {
    schedule,
    stop(): void {
      stopped = true;
      clearTimeout(reading);
    },
    /** Adds all words to the search that are not in it yet, as far as the store takes them. */
    readAll(): void {
      while (store.search.isBehind() && bookkeeping.tryMaintain(readOn)) continue;
    },
    /** Called after commits: soon the search is brought up to date, and every so many events the log is looked at. */
    note(): void {
      if (!stopped) reading ??= setTimeout(read, limits.searchDelayMs);
      if (store.log.head() - prunedAt < limits.pruneEveryEvents) return;
      prunedAt = store.log.head();
      schedule();
    },
  };
}
export type Housekeeping = ReturnType<typeof createHousekeeping>;
