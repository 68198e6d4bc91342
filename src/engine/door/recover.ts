import { isParked, settleLeftRun } from '../../core/recovery.js';
import { limits } from '../../protocol/limits.js';
import { StoreRefused } from '../../store/faults.js';
import type { ReadStore } from '../../store/store.js';
import type { Bookkeeping, Commit } from './commit.js';

export interface Recovered {
  settled: number;
  parked: number;
}

interface Deps {
  store: ReadStore;
  commit: Commit & Bookkeeping;
  resumable(toolName: string): boolean;
}

/** Crash recovery: settles every run that the last daemon left, but for those that only wait for a person. */
export function recoverRuns({ store, commit, resumable }: Deps): Recovered {
  const result = { settled: 0, parked: 0 };
  for (const { runId, sessionId, attempts } of store.runs.allActive()) {
    const state = store.load(sessionId);
    if (!state?.run) continue;
    if (isParked(state, store.requests.askedCalls(runId, state.run.turn?.id ?? ''), resumable)) {
      commit.maintain((rows) => rows.runs.adopt(runId, store.bootId));
      result.parked++;
      continue;
    }
    const partialContent = state.run.message ? store.partials.content(state.run.message.id) : [];
    const carryOn = state.recovery === 'continue' && attempts < limits.recoveryAttemptsMax;
    const outcome = commit.decide(sessionId, (now, fresh) => settleLeftRun(now, { partialContent, carryOn }, fresh));
    if (!outcome.ok)
      throw new StoreRefused(`recovery failed: run ${runId} of the last daemon could not be settled: ${outcome.refusal.message}`);
    result.settled++;
  }
  return result;
}
