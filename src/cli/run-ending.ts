import type { RunError, RunOutcome } from '../protocol/events.js';

/** A run that has ended, as `last_run`, `list_runs` and `agent_end` have it. */
interface EndedRun {
  outcome: RunOutcome;
  error: RunError | null;
  /** Somebody said that it is not to be resumed. */
  abandoned?: boolean | undefined;
}

export interface RunEnding {
  /** What became of it and why. */
  text: string;
  /** What a person can do about it; empty when there is nothing to do. */
  advice: string;
}

/** How a run ended, why, and what to do about it. `resume` is what a person types to resume it. */
export function describeEnding({ outcome, error, abandoned }: EndedRun, resume: string): RunEnding {
  const why = error ? describeError(error) : '';
  if (abandoned) return { ...describeEnding({ outcome, error }, resume), advice: '' };
  switch (outcome) {
    case 'completed':
      return { text: 'completed', advice: '' };
    case 'failed':
      return { text: withReason('failed', why), advice: `${resume} tries again` };
    case 'interrupted':
      return {
        text: withReason('interrupted: the daemon stopped while it ran', why),
        advice: `${resume} continues it`,
      };
    case 'aborted':
      return { text: withReason('stopped', why), advice: '' };
  }
}

/** An error with its cause. */
export function describeError({ message, cause }: { message: string; cause?: string | undefined }): string {
  return cause === undefined ? message : `${message} (${cause})`;
}

/** What to say of a queue that is paused, for a session named as commands take it; empty when nothing waits in it, as then there is nothing to resume. */
export function describePause(waiting: number, session: string): string {
  if (waiting === 0) return '';
  return `paused with ${waiting === 1 ? '1 message' : `${waiting} messages`} waiting; berth queue ${session} resume sends ${waiting === 1 ? 'it' : 'them'}`;
}

function withReason(text: string, reason: string): string {
  return reason === '' ? text : `${text}: ${reason}`;
}
