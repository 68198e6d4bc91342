import { setTimeout as delay } from 'node:timers/promises';
import { reject, type Decision, type Fresh } from '../../core/decision.js';
import { limits } from '../../protocol/limits.js';
import { StoreRefused, type StoreFault } from '../../store/faults.js';
import type { Bookkeeping, BookkeepingRows, Commit, Decide, Outcome } from './commit.js';

interface Deps {
  commit: Commit & Bookkeeping;
  /** Called with the fault while a commit of a session is retried, and with undefined once the commit is made. */
  onParked(sessionId: string, fault: StoreFault | undefined): void;
  /** Fires when the daemon stops: retries end. */
  stopped: AbortSignal;
}

/** Commits of the engine, retried with backoff while the disk is full or the database is locked; the run waits, with a status. */
export interface RetryingCommit extends Commit, Bookkeeping {
  decideWithRetry<Reply>(sessionId: string, decide: Decide<Reply>): Promise<Outcome<Reply>>;
  /** `decideWithRetry` for daemon-wide events. */
  decideSharedWithRetry<Reply>(decide: (fresh: Fresh) => Decision<Reply>): Promise<Outcome<Reply>>;
  /** `decideWithRetry` for an event of a run: refused once the run is over, and never applied to the next run of the session. */
  decideForRun<Reply>(sessionId: string, runId: string, decide: Decide<Reply>): Promise<Outcome<Reply>>;
  /** Retried bookkeeping. Throws StoreRefused when the daemon stops before the work is committed. */
  maintainWithRetry(sessionId: string, work: (rows: BookkeepingRows) => void): Promise<void>;
}

export function createRetryingCommit({ commit, onParked, stopped }: Deps): RetryingCommit {
  async function waitUnlessStopped(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: stopped }).catch((error: unknown) => {
      if (!stopped.aborted) throw error;
    });
  }

  async function retry<Reply>(attempt: () => Outcome<Reply>, onFault: (fault: StoreFault | undefined) => void): Promise<Outcome<Reply>> {
    for (let waitMs: number = limits.commitRetryMinMs; ; waitMs = Math.min(2 * waitMs, limits.commitRetryMaxMs)) {
      const outcome = attempt();
      const fault = outcome.ok ? undefined : outcome.fault;
      if (waitMs > limits.commitRetryMinMs || fault) onFault(fault);
      if (!fault || stopped.aborted) return outcome;
      await waitUnlessStopped(waitMs);
    }
  }

  function decideWithRetry<Reply>(sessionId: string, decide: Decide<Reply>): Promise<Outcome<Reply>> {
    return retry(
      () => commit.decide(sessionId, decide),
      (fault) => onParked(sessionId, fault),
    );
  }

  async function maintainWithRetry(sessionId: string, work: (rows: BookkeepingRows) => void): Promise<void> {
    for (let waitMs: number = limits.commitRetryMinMs; ; waitMs = Math.min(2 * waitMs, limits.commitRetryMaxMs)) {
      const fault = commit.attemptMaintain(work);
      onParked(sessionId, fault);
      if (!fault) return;
      if (stopped.aborted) {
        const why = fault === 'storage_full' ? 'the disk is full; free some space' : 'another program holds it; end that program';
        throw new StoreRefused(
          `the database could not be written for session ${sessionId} before the daemon stopped: ${why}, then start the daemon again`,
        );
      }
      await waitUnlessStopped(waitMs);
    }
  }

  return {
    ...commit,
    decideWithRetry,
    // A daemon-wide event has no session whose status could be set.
    decideSharedWithRetry: (decide) =>
      retry(
        () => commit.decideShared(decide),
        () => undefined,
      ),
    maintainWithRetry,
    decideForRun: (sessionId, runId, decide) =>
      decideWithRetry(sessionId, (state, fresh) => (state.run?.id === runId ? decide(state, fresh) : reject('aborted'))),
  };
}
