import { approvalAnswers, denyReasonKey, isDeniedWithReason } from '../protocol/requests/approval-answers.js';
import { currentParams } from '../protocol/requests/old-requests.js';
import type { UiAnswer } from '../protocol/requests/request-answers.js';
import type { ApprovalParams, QuestionParams, RequestParams, UiRequest } from '../protocol/requests/requests.js';
import { approvalParts, type CardPart } from './approval.js';
import { printable, printableLine } from './printable.js';

/** A choice, with its key in an approval or its number elsewhere. */
export interface Choice {
  key: string;
  label: string;
  /** Undefined when the choice needs a text. */
  answer: UiAnswer | undefined;
}

/** A request for display. Every text is sanitized. */
export interface RequestCard {
  kind: RequestParams['kind'];
  /** One line. */
  title: string;
  parts: CardPart[];
  choices: Choice[];
  /** The default for an empty answer. */
  preset: string;
  /** What to type. */
  hint: string;
  /** The input must not be echoed. */
  isSecret: boolean;
  /** A yes destroys something or cannot be undone. */
  isDangerous: boolean;
}

/** Converts a request of any daemon version into a card. */
export function toCard(request: UiRequest): RequestCard {
  const params = currentParams(request);
  return {
    kind: params.kind,
    title: printableLine(params.title || 'A question'),
    parts: partsOf(params),
    choices: choicesOf(params),
    preset: printable(presetOf(params)),
    hint: hintFor(params),
    isSecret: isSecret(request),
    isDangerous: isDangerous(params),
  };
}

function partsOf(params: RequestParams): CardPart[] {
  if (params.kind === 'approval') return approvalParts(params);
  const { message = '' } = params;
  return message === '' ? [] : [{ kind: 'message', text: printable(message) }];
}

function choicesOf(params: RequestParams): Choice[] {
  switch (params.kind) {
    case 'approval': {
      const { key, label } = params.deny_with_reason;
      return [
        ...params.options.map((option) => ({ key: option.key, label: printableLine(option.label), answer: option.value })),
        { key, label: printableLine(label), answer: undefined },
      ];
    }
    case 'trust':
    case 'directory':
      return yesOrNo;
    case 'question':
      if (params.method === 'confirm') return isDangerous(params) ? dangerousYesOrNo : yesOrNo;
      if (params.method !== 'select') return [];
      return params.options.map(({ value, label }, at) => ({ key: String(at + 1), label: printableLine(label), answer: value }));
  }
}

const yesOrNo: Choice[] = [
  { key: 'y', label: 'Yes', answer: true },
  { key: 'n', label: 'No', answer: false },
];

const dangerousYesOrNo: Choice[] = [
  { key: 'y', label: 'Yes, although it cannot be undone', answer: true },
  { key: 'n', label: 'No', answer: false },
];

function isDangerous(params: RequestParams): boolean {
  return params.kind === 'question' && params.method === 'confirm' && params.danger === true;
}

function presetOf(params: RequestParams): string {
  return params.kind === 'question' && 'default' in params ? (params.default ?? '') : '';
}

/** What to type. */
export function hintOf(request: UiRequest): string {
  return hintFor(currentParams(request));
}

function hintFor(params: RequestParams): string {
  switch (params.kind) {
    case 'approval':
      return `${params.options.map(({ key }) => key).join(', ')}, or ${denyReasonKey} and a reason, with which the run goes on`;
    case 'trust':
    case 'directory':
      return 'y or n';
    case 'question':
      return questionHint(params);
  }
}

function questionHint(params: QuestionParams): string {
  switch (params.method) {
    case 'select': {
      const number = `a number from 1 to ${params.options.length}`;
      return params.multi ? `${number}, or several with commas` : number;
    }
    case 'confirm':
      return 'y or n';
    case 'input':
    case 'editor':
      return params.placeholder === undefined || params.placeholder === '' ? 'a text' : printableLine(params.placeholder);
  }
}

/** A parsed answer, or a hint for invalid input. */
export type ReadAnswer = { ok: true; result: UiAnswer } | { ok: false; hint: string };

export function readAnswer(request: UiRequest, typed: string): ReadAnswer {
  const params = currentParams(request);
  switch (params.kind) {
    case 'approval':
      return readApproval(params, typed.trim());
    case 'trust':
    case 'directory':
      return readYesOrNo(params, typed.trim());
    case 'question':
      return readQuestion(params, typed);
  }
}

function readYesOrNo(params: RequestParams, words: string): ReadAnswer {
  if (/^(y|yes|true)$/i.test(words)) return { ok: true, result: true };
  if (/^(n|no|false)$/i.test(words)) return { ok: true, result: false };
  return { ok: false, hint: hintFor(params) };
}

function readQuestion(params: QuestionParams, typed: string): ReadAnswer {
  switch (params.method) {
    case 'confirm':
      return readYesOrNo(params, typed.trim());
    case 'select':
      return params.multi ? readChoices(params, typed) : readChoice(params, typed.trim());
    case 'input':
    case 'editor':
      return { ok: true, result: typed === '' ? (params.default ?? '') : typed };
  }
}

type Select = Extract<QuestionParams, { method: 'select' }>;

function readChoice(params: Select, words: string): ReadAnswer {
  const found = findChoice(params, words);
  return found === undefined ? { ok: false, hint: hintFor(params) } : { ok: true, result: found };
}

function findChoice({ options }: Select, words: string): string | undefined {
  const wanted = words.toLowerCase();
  const found =
    options.find(({ value }) => value === words) ??
    options.find(({ label }) => label.toLowerCase() === wanted) ??
    (/^[1-9]\d*$/.test(words) ? options[Number(words) - 1] : undefined);
  return found?.value;
}

/** Parses a comma-separated list of choices, whose names may contain commas. An empty text chooses none. */
function readChoices(params: Select, typed: string): ReadAnswer {
  const words = typed.trim();
  if (words === '') return { ok: true, result: [] };
  const whole = findChoice(params, words);
  if (whole !== undefined) return { ok: true, result: [whole] };
  const found = words.split(',').map((word) => findChoice(params, word.trim()));
  const choices = found.filter((value) => value !== undefined);
  return choices.length < found.length ? { ok: false, hint: hintFor(params) } : { ok: true, result: [...new Set(choices)] };
}

/** Parses an approval: a key, word or value, never a number, whose meaning would differ between approvals. */
function readApproval(params: ApprovalParams, words: string): ReadAnswer {
  const wanted = words.toLowerCase();
  const found = params.options.find(({ value }) => {
    const { key, word } = approvalAnswers[value];
    return wanted === key || wanted === word || words === value || (value === 'deny' && /^(n|no)$/.test(wanted));
  });
  if (found) return { ok: true, result: found.value };
  const reason = new RegExp(`^(?:deny|${denyReasonKey})\\s+(\\S[^]*)$`, 'i').exec(words)?.[1];
  if (reason !== undefined) return { ok: true, result: { value: 'deny', reason } };
  const hint = hintFor(params);
  return { ok: false, hint: /^\d+$/.test(words) ? `${hint}; approvals are not answered with numbers` : hint };
}

/** Whether the input must not be echoed. */
export function isSecret({ params }: UiRequest): boolean {
  return params.kind === 'question' && 'secret' in params && params.secret === true;
}

/** Describes an answer. */
export function describeAnswer(answer: UiAnswer | undefined): string {
  if (typeof answer === 'boolean') return answer ? 'yes' : 'no';
  if (typeof answer === 'string') return printableLine(answer);
  if (isDeniedWithReason(answer)) {
    const reason = answer.reason.trim();
    return printableLine(reason === '' ? answer.value : `${answer.value}, because ${reason}`);
  }
  return answer === null || answer === undefined || answer.length === 0 ? 'nothing' : answer.map(printableLine).join(', ');
}
