import type { UiRequest } from '../../protocol/requests/requests.js';

/** How long a question must have been on the screen, and no key pressed, before a key can answer it. */
const tuning = { settledMs: 400 } as const;

export interface QuestionGate {
  /** The question that is on the screen was painted. */
  painted(requestId: string | undefined, nowMs: number): void;
  /** A key was pressed, whatever it did. */
  keyPressed(nowMs: number): void;
  /** Whether a key may answer the painted question: nobody was typing, and it could be read. */
  isSettled(requestId: string, nowMs: number): boolean;
}

/** Tells answers from typing: a question never takes a key that was meant for something else. */
export function createQuestionGate(): QuestionGate {
  let shown: { requestId: string; sinceMs: number } | undefined;
  let lastKeyMs = -Infinity;
  return {
    painted(requestId, nowMs) {
      if (requestId === undefined) shown = undefined;
      else if (shown?.requestId !== requestId) shown = { requestId, sinceMs: nowMs };
    },
    keyPressed: (nowMs) => void (lastKeyMs = nowMs),
    isSettled(requestId, nowMs) {
      return shown?.requestId === requestId && nowMs - shown.sinceMs >= tuning.settledMs && nowMs - lastKeyMs >= tuning.settledMs;
    },
  };
}

/** The open questions of a session without those that were answered from here a moment ago. */
export function openQuestions(requests: readonly UiRequest[], answered: ReadonlySet<string>): UiRequest[] {
  return requests.filter(({ request_id }) => !answered.has(request_id));
}
