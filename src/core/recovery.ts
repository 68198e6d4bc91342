import { accept, createDraft, reject, type Decision, type Fresh } from './decision.js';
import { settleRun, type Settlement } from './runs.js';
import { sayQueuedRun, sayResumingRun } from './turns.js';
import type { SessionState } from './session.js';

/**
 * A run that only waits for a person outlives the daemon: its calls that have begun are all of the kind that only asks,
 * and a question was put for one of them or for one that has not begun.
 */
export function isParked(state: SessionState, asked: ReadonlySet<string>, resumable: (toolName: string) => boolean): boolean {
  const { run } = state;
  if (!run || run.aborting || run.message || !run.turn?.responded) return false;
  const begun = run.calls.filter((call) => call.started);
  return run.calls.some((call) => asked.has(call.id)) && begun.every((call) => resumable(call.name) && asked.has(call.id));
}

interface LeftRun extends Pick<Settlement, 'spoken' | 'error'> {
  /** A new run continues it in the same commit. */
  carryOn: boolean;
}

/** What a run that its daemon left behind comes to. */
export function settleLeftRun(state: SessionState, { spoken, error, carryOn }: LeftRun, fresh: Fresh): Decision {
  if (!state.run) return reject('no_active_run');
  const outcome = state.run.aborting ? 'aborted' : 'interrupted';
  const settled = settleRun(state, { outcome, error, spoken }, fresh);
  if (!settled.ok || outcome === 'aborted' || !carryOn) return settled;
  const draft = createDraft(state);
  for (const fact of settled.facts) draft.say(fact);
  sayResumingRun(draft, fresh.id('run'), state.run.id, fresh);
  return accept(draft.facts, undefined);
}

export interface ResumePoint {
  /** Where a retry begins: the last message of a user on the path, or the summary right after it. */
  retryEntryId: string | undefined;
}

/** Goes on after the session's last run. */
export function resumeRun(
  state: SessionState,
  runId: string,
  action: 'retry' | 'continue' | 'abandon',
  { retryEntryId }: ResumePoint,
  fresh: Fresh,
): Decision<{ runId: string }> {
  if (state.run) return reject('run_in_progress');
  if (state.lastRun?.id !== runId) return reject('run_not_found', 'only the last run of a session can be resumed');
  const draft = createDraft(state);
  if (action === 'abandon') {
    draft.say({ type: 'status', payload: { session_id: state.id, run_id: runId, message: 'abandoned' } });
    return accept(draft.facts, { runId: sayQueuedRun(draft, fresh.id('run'), fresh) });
  }
  if (retryEntryId === undefined) return reject('run_not_found', 'there is no message to resume from');
  if (action === 'continue' && state.lastRun.outcome === 'completed') return reject('run_not_found', 'the run is complete; send a message');
  if (action === 'retry' && state.leafId !== retryEntryId) {
    draft.say({ type: 'session_update', payload: { session_id: state.id, leaf_id: retryEntryId } });
  }
  const newRunId = fresh.id('run');
  sayResumingRun(draft, newRunId, runId, fresh);
  return accept(draft.facts, { runId: newRunId });
}
