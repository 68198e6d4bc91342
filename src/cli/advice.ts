import { pauseText } from '../view/queue-text.js';
import type { RunEnding } from '../view/run-outcome.js';

/** What a person can do about the end of a run; empty when there is nothing to do. `command` is what resumes it. */
export function adviseResume({ remedy }: RunEnding, command: string): string {
  if (remedy === null) return '';
  return `${command} ${remedy === 'retry' ? 'tries again' : 'continues it'}`;
}

/** What to say of a paused queue, for a session named as commands take it; empty when nothing waits, as then there is nothing to resume. */
export function describePause(waiting: number, session: string): string {
  return waiting === 0 ? '' : `${pauseText(waiting)}; berth queue ${session} resume sends ${waiting === 1 ? 'it' : 'them'}`;
}
