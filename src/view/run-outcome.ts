import type { LastRun } from '../core/session.js';
import type { RunError, RunOutcome } from '../protocol/events.js';
import { printableLine } from './printable.js';
import type { SessionView } from './session-view.js';

/** A run that has ended, as `last_run`, `list_runs` and `agent_end` have it. */
export interface EndedRun {
  outcome: RunOutcome;
  error: RunError | null;
  /** Somebody said that it is not to be resumed. */
  abandoned?: boolean | undefined;
}

export interface RunEnding {
  /** What became of it and why, in one printable line. */
  text: string;
  /** `alarm` when something went wrong. */
  level: 'info' | 'alarm';
  /** The action of `resume_run` that a person should be offered; null when there is nothing to do about it. */
  remedy: 'retry' | 'continue' | null;
}

/** How a run ended, why, and what can be done about it. */
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

/** How a run is resumed unless a person says otherwise: from the last prompt after a failure, else from what there is. */
export function resumeActionFor(outcome: RunOutcome): 'retry' | 'continue' {
  return outcome === 'failed' ? 'retry' : 'continue';
}

/** An error with its cause, in one printable line. */
export function describeError({ message, cause }: { message: string; cause?: string | undefined }): string {
  return printableLine(cause === undefined ? message : `${message} (${cause})`);
}

/**
 * How a run stands in a view. `replaced` has ended, and another run has followed it: `list_runs` tells how it ended. `unknown` when the view
 * has not heard of it: it is still to come, or its messages are not in the view.
 */
export type RunStanding = { state: 'running' | 'replaced' | 'unknown' } | { state: 'ended'; end: LastRun };

export function findRun({ state: { run, lastRun }, messages }: SessionView, runId: string): RunStanding {
  if (run?.id === runId) return { state: 'running' };
  if (lastRun?.id === runId) return { state: 'ended', end: lastRun };
  return { state: messages.some(({ run_id }) => run_id === runId) ? 'replaced' : 'unknown' };
}
