import { approvalAnswers, denyReasonKey, isDeniedWithReason } from '../protocol/approval-answers.js';
import { currentParams } from '../protocol/old-requests.js';
import type { UiAnswer } from '../protocol/request-answers.js';
import type { ApprovalParams, QuestionParams, RequestParams, UiRequest } from '../protocol/requests.js';
import { printable, printableLine } from '../view/printable.js';
import { describeApproval } from './approval-lines.js';
import { clipLines, type ClippedLines } from './clipped-lines.js';
import { clipColumns } from './columns.js';
import { createStyle, type Style } from './style.js';

const titleColumnsMax = 200;
/** What an approval would allow is shown above its options. */
const approvalColumnsMax = 100;

/** What a person's words mean as an answer, or what to type instead. */
export type ReadAnswer = { ok: true; result: UiAnswer } | { ok: false; hint: string };

/** How much of a question is shown, and how. */
export interface Shown {
  style?: Style;
  /** All of it, unless told. */
  linesMax?: number;
  /** What shows the rest, such as a command. */
  rest?: string;
}

/** A request as lines: what is asked, what would be done, what there is to choose from. */
export function describeQuestion(request: UiRequest, { style = createStyle(false), linesMax = Infinity, rest = '' }: Shown = {}): string[] {
  const params = currentParams(request);
  const title = params.title || 'A question';
  const { lines, missing } = describeMatter(params, style, linesMax);
  return [
    linesMax === Infinity ? printableLine(title) : clipColumns(printableLine(title), titleColumnsMax),
    ...lines,
    ...(missing === '' || rest === '' ? [] : [style.bold(`${rest} shows all of it`)]),
    ...describeChoices(params, linesMax),
  ];
}

function describeMatter(params: RequestParams, style: Style, linesMax: number): ClippedLines {
  if (params.kind === 'approval') return describeApproval(params, style, linesMax);
  const { message = '' } = params;
  if (message === '') return { lines: [], missing: '' };
  const { lines, missing } = clipLines(message, linesMax);
  return { lines: missing === '' ? lines : [...lines, `[${missing}]`], missing };
}

/** What can be typed: the letter of an approval's answer, the number of any other option. */
function describeChoices(params: RequestParams, linesMax: number): string[] {
  if (params.kind === 'approval') {
    const columnsMax = linesMax === Infinity ? Infinity : approvalColumnsMax;
    const { key, label } = params.deny_with_reason;
    return [
      ...params.options.map((option) => `${option.key}) ${clipColumns(printableLine(option.label), columnsMax)}`),
      `${key}) ${label}: ${key} REASON`,
    ];
  }
  if (params.kind !== 'question') return [];
  if (params.method === 'select') return params.options.map(({ label }, at) => `${at + 1}) ${printableLine(label)}`);
  const preset = params.method === 'confirm' ? '' : (params.default ?? '');
  return preset === '' ? [] : [`(left empty: ${printable(preset).replaceAll('\n', ' ')})`];
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

/** One choice may have commas in its name; several are told apart by commas. Nothing chooses none. */
function readChoices(params: Select, typed: string): ReadAnswer {
  const words = typed.trim();
  if (words === '') return { ok: true, result: [] };
  const whole = findChoice(params, words);
  if (whole !== undefined) return { ok: true, result: [whole] };
  const found = words.split(',').map((word) => findChoice(params, word.trim()));
  const known = found.filter((value) => value !== undefined);
  return known.length < found.length ? { ok: false, hint: hintFor(params) } : { ok: true, result: [...new Set(known)] };
}

/** An approval is answered by its letter, its word or its value, never by a number: the same number would mean another thing elsewhere. */
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

/** Whether what is typed must not be shown. */
export function isSecret({ params }: UiRequest): boolean {
  return params.kind === 'question' && 'secret' in params && params.secret === true;
}

/** An answer as words. */
export function describeAnswer(answer: UiAnswer | undefined): string {
  if (typeof answer === 'boolean') return answer ? 'yes' : 'no';
  if (typeof answer === 'string') return printableLine(answer);
  if (isDeniedWithReason(answer)) {
    const reason = answer.reason.trim();
    return printableLine(reason === '' ? answer.value : `${answer.value}, because ${reason}`);
  }
  return answer === null || answer === undefined || answer.length === 0 ? 'nothing' : answer.map(printableLine).join(', ');
}
