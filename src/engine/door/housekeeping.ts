import { expireSession } from '../../core/settings.js';
import { limits } from '../../protocol/limits.js';
import type { ReadStore } from '../../store/store.js';
import type { LogRetention } from '../../store/event-log.js';
import type { ArtifactRetention } from '../calls/artifact-files.js';
import type { Bookkeeping, BookkeepingRows, Commit } from './commit.js';

/** How long and how much is kept. */
export interface Retention extends LogRetention, ArtifactRetention {
  /** How long an archived session is kept after its last change; null: for ever. */
  archivedAgeMs: number | null;
}

interface Deps {
  store: ReadStore;
  commit: Commit & Bookkeeping;
  /** Called for each step: a reload of the config changes it. */
  retention(): Retention;
  now(): number;
  /** Drops a batch of artifact files that are not kept any longer; true when more may be left. */
  expireFiles(): boolean;
  /** Removes the artifact files of a deleted session. */
  dropFiles(sessionId: string): void;
}

/**
 * Applies the retention, sweeps deleted sessions and updates the full-text index, in small batches between other work; no timer runs
 * while nothing is left to do.
 */
export function createHousekeeping({ store, commit: bookkeeping, retention, now, expireFiles, dropFiles }: Deps) {
  let scheduled = false;
  let stopped = false;
  let removed = false;
  let indexTimer: NodeJS.Timeout | undefined;
  let prunedAt = store.log.head();
  let prunedAtMs = now();

  /** One batch; true when more is left and the store takes writes. */
  function step(): boolean {
    if (expireArchived() || expireFiles()) return true;
    const [sessionId] = store.sessions.deleted();
    if (sessionId !== undefined) dropFiles(sessionId);
    let more = false;
    const done = bookkeeping.tryMaintain(({ sweep, log }) => {
      if (sessionId !== undefined) sweep.batch(sessionId);
      more = sessionId !== undefined || log.prune(now(), retention());
      if (more) removed = true;
      // Vacuum last, and only after a removal: a store that only grows has no free pages.
      else if (removed) removed = more = sweep.releasePages();
    });
    return done && more;
  }

  /** Deletes an archived session whose time is over; false when there is none, or the store takes no writes. */
  function expireArchived(): boolean {
    const { archivedAgeMs } = retention();
    const expired = archivedAgeMs === null ? undefined : store.sessions.archivedBefore(now() - archivedAgeMs);
    return expired !== undefined && bookkeeping.decide(expired, expireSession).ok;
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
    /** Whether something is left to do. */
    isBusy: (): boolean => scheduled,
    stop(): void {
      stopped = true;
      clearTimeout(indexTimer);
    },
    /** Brings the full-text index up to date, unless the disk is full or the database is locked. */
    indexAll(): void {
      while (store.search.isBehind() && bookkeeping.tryMaintain(indexBatch)) continue;
    },
    /** To be called after commits: schedules indexing, and the retention every `pruneEveryEvents` events and once a day. */
    note(): void {
      if (!stopped) indexTimer ??= setTimeout(indexNext, limits.searchDelayMs);
      const isDue = Math.abs(now() - prunedAtMs) >= limits.retentionCheckMs;
      if (store.log.head() - prunedAt < limits.pruneEveryEvents && !isDue) return;
      prunedAt = store.log.head();
      prunedAtMs = now();
      schedule();
    },
  };
}
export type Housekeeping = ReturnType<typeof createHousekeeping>;
