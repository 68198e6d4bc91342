import type { LastRun } from '../core/session.js';
import type { RunError, RunOutcome } from '../protocol/events.js';
import { printableLine } from './printable.js';
import type { SessionView } from './session-view.js';

/** A run that has ended, as `last_run`, `list_runs` and `agent_end` have it. */
export interface EndedRun {
  outcome: RunOutcome;
  error: RunError | null;
  /** A person has abandoned the run: it is not to be resumed. */
  abandoned?: boolean | undefined;
}

export interface RunEnding {
  /** Outcome and reason in one sanitized line. */
  text: string;
  /** `alarm` when something went wrong. */
  level: 'info' | 'alarm';
  /** The action of `resume_run` to offer; null when there is nothing to do. */
  remedy: 'retry' | 'continue' | null;
}

/** Describes the end of a run, its reason and remedy. */
export function describeEnding({ outcome, error, abandoned = false }: EndedRun): RunEnding {
  const level = outcome === 'failed' || outcome === 'interrupted' ? 'alarm' : 'info';
  const text = [outcomeTexts[outcome], ...(error && outcome !== 'completed' ? [describeError(error)] : [])].join(': ');
  return { text: printableLine(text), level, remedy: level === 'alarm' && !abandoned ? resumeActionFor(outcome) : null };
}

const outcomeTexts: Record<RunOutcome, string> = {
  completed: 'completed',
  failed: 'failed',
  interrupted: 'interrupted: the daemon stopped while it ran',
  aborted: 'stopped',
};

/** The default way to resume: retry the last prompt after a failure, else continue. */
export function resumeActionFor(outcome: RunOutcome): 'retry' | 'continue' {
  return outcome === 'failed' ? 'retry' : 'continue';
}

/** An error with its cause, in one sanitized line. */
export function describeError({ message, cause }: { message: string; cause?: string | undefined }): string {
  return printableLine(cause === undefined ? message : `${message} (${cause})`);
}

/**
 * The state of a run in a view. `replaced`: the run has ended and another has followed; `list_runs` has its outcome. `unknown`: the run has not
 * begun, or its messages are not in the view.
 */
export type RunStanding = { state: 'running' | 'replaced' | 'unknown' } | { state: 'ended'; end: LastRun };

export function findRun({ state: { run, lastRun }, messages }: SessionView, runId: string): RunStanding {
  if (run?.id === runId) return { state: 'running' };
  if (lastRun?.id === runId) return { state: 'ended', end: lastRun };
  return { state: messages.some(({ run_id }) => run_id === runId) ? 'replaced' : 'unknown' };
}
