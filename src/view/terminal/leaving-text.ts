import type { SessionView } from '../session-view.js';

/** What whoever leaves a session should know: what goes on without them, and what was not sent yet (`kept`). Each is a sentence. */
export function leavingTexts({ state: { run, requests } }: SessionView, kept: number): string[] {
  return [
    ...(requests.length > 0 ? ['The run waits for an answer; berth answer lists it.'] : run ? ['The run goes on.'] : []),
    ...(kept === 0 ? [] : [`${kept} not sent yet: kept, and sent by the next berth attach.`]),
  ];
}
