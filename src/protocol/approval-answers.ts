/**
 * The answers that an approval may offer. Each has one key, which means the same in every question and every frontend, and a word for
 * command lines. Numbers are no answers: the place of an option differs from question to question.
 */
export const approvalAnswers = {
  allow_once: { key: 'a', word: 'once' },
  allow_session: { key: 's', word: 'session' },
  allow_always: { key: 'w', word: 'always' },
  // Not n: whoever types that means no.
  allow_network: { key: 'i', word: 'internet' },
  deny: { key: 'd', word: 'deny' },
} as const;

export type ApprovalAnswer = keyof typeof approvalAnswers;

/** The key of a denial with a reason: `{value: "deny", reason: "…"}` on the wire. It needs a text, so that it is no option. */
export const denyReasonKey = 'r';

export function isApprovalAnswer(value: unknown): value is ApprovalAnswer {
  return typeof value === 'string' && Object.hasOwn(approvalAnswers, value);
}
