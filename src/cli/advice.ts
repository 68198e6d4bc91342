import type { UiRequest } from '../protocol/requests/requests.js';
import { toCard } from '../view/questions.js';
import { pauseText } from '../view/queue-text.js';
import { describeEnding, type EndedRun, type RunEnding } from '../view/run-outcome.js';
import { shortId } from '../view/short-ids.js';

/** How to resume a run with `command`, for its ending; empty when there is nothing to resume. */
export function adviseResume({ remedy }: RunEnding, command: string): string {
  if (remedy === null) return '';
  return `${command} ${remedy === 'retry' ? 'tries again' : 'continues it'}`;
}

/** Describes a paused queue and the command that resumes it; empty when the queue is empty. `session` is a short id. */
export function describePause(waiting: number, session: string): string {
  return waiting === 0 ? '' : `${pauseText(waiting)}; berth queue ${session} resume sends ${waiting === 1 ? 'it' : 'them'}`;
}

/** Describes a question that waits for a person, and the commands that answer it and wait on. `session` is a short id. */
export function describeAsked(request: UiRequest, session: string): string[] {
  const id = shortId(request.request_id);
  return [
    `the run waits for an answer: ${toCard(request).title}`,
    `berth answer ${id} --show shows the question, berth answer ${id} VALUE answers it; berth wait ${session} waits for the end`,
  ];
}

/** Describes the end of a run that did not complete, and the command that resumes it. */
export function describeRunEnd(run: EndedRun, sessionId: string): string {
  const ending = describeEnding(run);
  const advice = adviseResume(ending, `berth resume ${shortId(sessionId)}`);
  return `the run ${run.outcome === 'failed' ? '' : 'was '}${ending.text}${advice === '' ? '' : `; ${advice}`}`;
}
