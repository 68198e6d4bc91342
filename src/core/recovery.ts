import { accept, createDraft, reject, type Decision, type Fresh } from './decision.js';
import { settleRun, type Settlement } from './runs.js';
import { sayQueuedRun, sayResumingRun } from './turns.js';
import { abandonedStatus, type SessionState } from './session.js';
import type { ResumeAction } from '../protocol/views.js';

/**
 * Whether a run only waits for a person, and so survives a restart: all calls that have begun are resumable and have made a request, or a
 * call that has not begun waits for its approval.
 */
export function isParked(state: SessionState, asked: ReadonlySet<string>, resumable: (toolName: string) => boolean): boolean {
  const { run } = state;
  if (!run || run.aborting || run.message || !run.turn?.responded) return false;
  const begun = run.calls.filter((call) => call.started);
  return run.calls.some((call) => asked.has(call.id)) && begun.every((call) => resumable(call.name) && asked.has(call.id));
}

interface LeftRun extends Pick<Settlement, 'partialContent'> {
  /** A new run continues the interrupted one in the same commit. */
  carryOn: boolean;
}

/** Crash recovery: settles a run that the last daemon left. */
export function settleLeftRun(state: SessionState, { partialContent, carryOn }: LeftRun, fresh: Fresh): Decision {
  if (!state.run) return reject('no_active_run');
  const outcome = state.run.aborting ? 'aborted' : 'interrupted';
  const settled = settleRun(state, { outcome, error: null, partialContent }, fresh);
  if (!settled.ok || outcome === 'aborted' || !carryOn) return settled;
  const draft = createDraft(state);
  for (const fact of settled.facts) draft.say(fact);
  sayResumingRun(draft, fresh.id('run'), state.run.id, fresh);
  return accept(draft.facts, undefined);
}

export interface ResumePoint {
  /** The entry that a retry starts from: the last user message on the path, or the summary right after it. */
  retryEntryId: string | undefined;
}

/** The resume actions that are possible for the session's last run. */
export function resumeActions({ run, lastRun }: SessionState, { retryEntryId }: ResumePoint): ResumeAction[] {
  if (run || !lastRun) return [];
  if (retryEntryId === undefined) return ['abandon'];
  return lastRun.outcome === 'completed' ? ['retry', 'abandon'] : ['retry', 'continue', 'abandon'];
}

/** Retries, continues or abandons the session's last run. */
export function resumeRun(
  state: SessionState,
  runId: string,
  action: ResumeAction,
  { retryEntryId }: ResumePoint,
  fresh: Fresh,
): Decision<{ runId: string }> {
  if (state.run) return reject('run_in_progress');
  if (state.lastRun?.id !== runId) return reject('run_not_found', 'only the last run of a session can be resumed');
  if (!resumeActions(state, { retryEntryId }).includes(action)) {
    const why = retryEntryId === undefined ? 'there is no message to resume from' : 'the run is complete; send a message';
    return reject('run_not_found', why);
  }
  const draft = createDraft(state);
  if (action === 'abandon') {
    draft.say({ type: 'status', payload: { session_id: state.id, run_id: runId, message: abandonedStatus } });
    return accept(draft.facts, { runId: sayQueuedRun(draft, fresh.id('run'), fresh) });
  }
  if (action === 'retry' && retryEntryId !== undefined && state.leafId !== retryEntryId) {
    draft.say({ type: 'session_update', payload: { session_id: state.id, leaf_id: retryEntryId } });
  }
  const newRunId = fresh.id('run');
  sayResumingRun(draft, newRunId, runId, fresh);
  return accept(draft.facts, { runId: newRunId });
}
