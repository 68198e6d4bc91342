import { limits } from '../../protocol/limits.js';
import type { ReadStore } from '../../store/store.js';
import type { Bookkeeping, BookkeepingRows } from './commit.js';

interface Deps {
  store: ReadStore;
  bookkeeping: Bookkeeping;
  now(): number;
  /** Removes the artifact files of a deleted session. */
  dropFiles(sessionId: string): void;
}

/**
 * Sweeps deleted sessions, prunes the log and updates the full-text index, in small batches between other work; no timer runs while
 * nothing is left to do.
 */
export function createHousekeeping({ store, bookkeeping, now, dropFiles }: Deps) {
  let scheduled = false;
  let stopped = false;
  let removed = false;
  let indexTimer: NodeJS.Timeout | undefined;
  let prunedAt = store.log.head();

  /** One batch; true when more is left and the store takes writes. */
  function step(): boolean {
    const [sessionId] = store.sessions.deleted();
    if (sessionId !== undefined) dropFiles(sessionId);
    let more = false;
    const done = bookkeeping.tryMaintain(({ sweep, log }) => {
      if (sessionId !== undefined) sweep.batch(sessionId);
      more = sessionId !== undefined || log.prune(now());
      if (more) removed = true;
      // Vacuum last, and only after a removal: a store that only grows has no free pages.
      else if (removed) removed = more = sweep.releasePages();
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

  const indexBatch = ({ search }: BookkeepingRows): void => search.indexBatch();

  /** Indexes a batch, then the next. When the disk is full or the database is locked, the next commit schedules another try. */
  function indexNext(): void {
    indexTimer = undefined;
    if (!stopped && store.isOpen() && store.search.isBehind() && bookkeeping.tryMaintain(indexBatch) && store.search.isBehind())
      setImmediate(indexNext);
  }

  return {
    schedule,
    stop(): void {
      stopped = true;
      clearTimeout(indexTimer);
    },
    /** Brings the full-text index up to date, unless the disk is full or the database is locked. */
    indexAll(): void {
      while (store.search.isBehind() && bookkeeping.tryMaintain(indexBatch)) continue;
    },
    /** To be called after commits: schedules indexing, and every `pruneEveryEvents` events a pruning of the log. */
    note(): void {
      if (!stopped) indexTimer ??= setTimeout(indexNext, limits.searchDelayMs);
      if (store.log.head() - prunedAt < limits.pruneEveryEvents) return;
      prunedAt = store.log.head();
      schedule();
    },
  };
}
export type Housekeeping = ReturnType<typeof createHousekeeping>;
