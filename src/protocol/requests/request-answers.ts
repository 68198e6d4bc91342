import * as z from 'zod';
import type { ApprovalChoice, DeniedWithReason } from './approval-answers.js';
import { limits } from '../limits.js';
import { lazy } from '../lazy.js';
import type { ApprovalParams, QuestionParams, RequestParams } from './requests.js';

const deniedWithReason = lazy((): z.ZodType<DeniedWithReason> => z.object({ value: z.literal('deny'), reason: z.string() }));

/** Each kind of request takes some of these: see `answerSchema`. Null is no answer. */
export const uiAnswer = lazy(() => z.union([z.string(), z.boolean(), z.null(), z.array(z.string()), deniedWithReason()]));
export type UiAnswer = z.infer<ReturnType<typeof uiAnswer>>;

/** The answers to an approval. */
export type ApprovalAnswer = ApprovalChoice | DeniedWithReason;
/** The answers to a question: text or the value of an option, yes or no, values of options. Null is no answer. */
export type QuestionAnswer = string | boolean | string[] | null;

/** What may be answered to one request. */
function answerSchema(params: RequestParams): z.ZodType<UiAnswer> {
  switch (params.kind) {
    case 'approval':
      return approvalAnswer(params);
    case 'trust':
    case 'directory':
      return z.boolean({ error: `a request of the kind ${params.kind} is answered with true or false` });
    case 'question':
      return questionAnswer(params);
  }
}

function approvalAnswer({ options }: ApprovalParams): z.ZodType<ApprovalAnswer> {
  const values = options.map(({ value }) => value);
  return z.union([z.enum(values), deniedWithReason()], {
    error: `an approval is answered with one of ${quoted(values)}, or {"value":"deny","reason":"…"}`,
  });
}

function questionAnswer(params: QuestionParams): z.ZodType<QuestionAnswer> {
  switch (params.method) {
    case 'confirm':
      return z.boolean({ error: 'a confirm is answered with true or false' });
    case 'input':
    case 'editor':
      return z.string({ error: `an ${params.method} is answered with text or null` }).nullable();
    case 'select': {
      const values = params.options.map(({ value }) => value);
      if (params.multi !== true) return z.enum(values, { error: `not one of ${quoted(values)}` }).nullable();
      const isUnique = (chosen: readonly string[]): boolean => new Set(chosen).size === chosen.length;
      const list = z.array(z.enum(values, { error: `not one of ${quoted(values)}` }), { error: `a list of ${quoted(values)}, or null` });
      return list.refine(isUnique, { error: 'names an option twice' }).nullable();
    }
  }
}

function quoted(values: readonly string[]): string {
  return values.map((value) => JSON.stringify(value)).join(', ');
}

export type CheckedAnswer = { ok: true; answer: UiAnswer } | { ok: false; field: string; problem: string };

/** An answer as its request takes it; otherwise which field of `ui_response` is wrong, and what it should be. */
export function checkAnswer(params: RequestParams, result: unknown): CheckedAnswer {
  if (JSON.stringify(result ?? null).length > limits.answerCharsMax)
    return { ok: false, field: 'result', problem: `an answer has at most ${limits.answerCharsMax} characters` };
  const parsed = answerSchema(params).safeParse(result);
  if (parsed.success) return { ok: true, answer: parsed.data };
  const { path, message } = deepestIssue(parsed.error.issues);
  return { ok: false, field: ['result', ...path].join('.'), problem: message };
}

/** The zod issue of a union that names the innermost field; otherwise the first issue. */
function deepestIssue(issues: readonly z.core.$ZodIssue[]): { path: string[]; message: string } {
  const [first] = issues;
  if (!first) return { path: [], message: 'is not valid' };
  const path = first.path.map(String);
  if (first.code !== 'invalid_union') return { path, message: first.message };
  const inner = first.errors.map(deepestIssue).filter((issue) => issue.path.length > 0);
  inner.sort((one, other) => other.path.length - one.path.length);
  return inner[0] ? { path: [...path, ...inner[0].path], message: inner[0].message } : { path, message: first.message };
}

/** The shapes by the names that the docs have for them. */
export const answerShapes = { ui_answer: uiAnswer, denied_with_reason: deniedWithReason };
