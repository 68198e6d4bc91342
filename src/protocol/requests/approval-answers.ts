/**
 * The answers that an approval may offer. Each has one key, which means the same in every approval and every frontend, and a word for
 * command lines. Numbers are no answers: the place of an option differs from approval to approval.
 */
export const approvalAnswers = {
  allow_once: { key: 'a', word: 'once' },
  allow_session: { key: 's', word: 'session' },
  allow_always: { key: 'w', word: 'always' },
  // Not n, which people type for no.
  allow_network: { key: 'i', word: 'internet' },
  deny: { key: 'd', word: 'deny' },
} as const;

export type ApprovalChoice = keyof typeof approvalAnswers;
export const approvalChoices = Object.keys(approvalAnswers) as ApprovalChoice[];

/** The key of a denial with a reason: `{value: "deny", reason: "…"}` on the wire. It needs a text, so that it is no option. */
export const denyReasonKey = 'r';
export const denyWithReason = { key: denyReasonKey, label: 'Deny with a reason, and go on' } as const;

/** A denial that says why: the model is told, and the run goes on. */
export interface DeniedWithReason {
  value: 'deny';
  reason: string;
}

export function isDeniedWithReason(answer: unknown): answer is DeniedWithReason {
  return typeof answer === 'object' && answer !== null && 'reason' in answer;
}

export function isApprovalChoice(value: unknown): value is ApprovalChoice {
  return typeof value === 'string' && Object.hasOwn(approvalAnswers, value);
}
