import { pauseText } from '../view/queue-text.js';
import type { RunEnding } from '../view/run-outcome.js';

/** How to resume a run with `command`, for its ending; empty when there is nothing to resume. */
export function adviseResume({ remedy }: RunEnding, command: string): string {
  if (remedy === null) return '';
  return `${command} ${remedy === 'retry' ? 'tries again' : 'continues it'}`;
}

/** Describes a paused queue and the command that resumes it; empty when the queue is empty. `session` is a short id. */
export function describePause(waiting: number, session: string): string {
  return waiting === 0 ? '' : `${pauseText(waiting)}; berth queue ${session} resume sends ${waiting === 1 ? 'it' : 'them'}`;
}
