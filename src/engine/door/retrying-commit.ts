import { setTimeout as delay } from 'node:timers/promises';
import { reject, type Decision, type Fresh } from '../../core/decision.js';
import { limits } from '../../protocol/limits.js';
import { StoreRefused, type StoreFault } from '../../store/faults.js';
import type { Bookkeeping, BookkeepingRows, Commit, Decide, Outcome } from './commit.js';

interface Deps {
  commit: Commit & Bookkeeping;
  /** Told while a commit of a session cannot be made, and again when it could. */
  onParked(sessionId: string, fault: StoreFault | undefined): void;
  /** Fires when the daemon gives up waiting, because it has to stop. */
  stopped: AbortSignal;
}

/** The engine's own commits: a store that is full or busy is waited for, visibly, and nothing goes on meanwhile. */
export interface RetryingCommit extends Commit, Bookkeeping {
  decideWithRetry<Reply>(sessionId: string, decide: Decide<Reply>): Promise<Outcome<Reply>>;
  /** The same for what is not of one session. */
  decideSharedWithRetry<Reply>(decide: (fresh: Fresh) => Decision<Reply>): Promise<Outcome<Reply>>;
  /** The same for what a run has to say: once the run is over it is refused, and never said of the session's next run. */
  decideForRun<Reply>(sessionId: string, runId: string, decide: Decide<Reply>): Promise<Outcome<Reply>>;
  /** Bookkeeping of a session that something else relies on. Throws StoreRefused when the daemon stops before the store takes it. */
  maintainWithRetry(sessionId: string, work: (rows: BookkeepingRows) => void): Promise<void>;
}

export function createRetryingCommit({ commit, onParked, stopped }: Deps): RetryingCommit {
  /** Being stopped ends the wait early. */
  async function waitAWhile(ms: number): Promise<void> {
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
      await waitAWhile(waitMs);
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
      await waitAWhile(waitMs);
    }
  }

  return {
    ...commit,
    decideWithRetry,
    // No session waits for it, so that none is told.
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
