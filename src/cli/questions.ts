import { approvalAnswers, denyReasonKey, isApprovalAnswer } from '../protocol/approval-answers.js';
import type { UiRequest } from '../protocol/events.js';
import { printable, printableLine } from '../view/printable.js';
import { describeApproval } from './approval-lines.js';
import { clipLines, type ClippedLines } from './clipped-lines.js';
import { clipColumns } from './columns.js';
import { createStyle, type Style } from './style.js';

const titleColumnsMax = 200;
/** What an approval would allow is shown above its options. */
const approvalColumnsMax = 100;

export interface Option {
  value: string;
  label: string;
}

/** What a person's words mean as an answer, or what to type instead. */
export type ReadAnswer = { ok: true; result: unknown } | { ok: false; hint: string };

/** How much of a question is shown, and how. */
export interface Shown {
  style?: Style;
  /** All of it, unless told. */
  linesMax?: number;
  /** What shows the rest, such as a command. */
  rest?: string;
}

/** A question as lines: what is asked, what would be done, what there is to choose from. */
export function describeQuestion(request: UiRequest, { style = createStyle(false), linesMax = Infinity, rest = '' }: Shown = {}): string[] {
  const { method, params } = request;
  const title = textOf(params.title) || 'A question';
  const { lines, missing } = describeMatter(request, style, linesMax);
  const options = method === 'select' ? optionsOf(params.options) : [];
  const preset = textOf(params.default);
  const labelColumnsMax = params.kind === 'approval' && linesMax !== Infinity ? approvalColumnsMax : Infinity;
  return [
    linesMax === Infinity ? printableLine(title) : clipColumns(printableLine(title), titleColumnsMax),
    ...lines,
    ...(missing === '' || rest === '' ? [] : [style.bold(`${rest} shows all of it`)]),
    ...options.map((option, at) => `${keyOf(request, option, at)}) ${clipColumns(printableLine(option.label), labelColumnsMax)}`),
    ...(params.kind === 'approval' ? [`${denyReasonKey}) Deny with a reason, and go on: ${denyReasonKey} REASON`] : []),
    ...(preset === '' ? [] : [`(left empty: ${printable(preset).replaceAll('\n', ' ')})`]),
  ];
}

function describeMatter(request: UiRequest, style: Style, linesMax: number): ClippedLines {
  if (request.params.kind === 'approval') return describeApproval(request, style, linesMax);
  const message = textOf(request.params.message);
  if (message === '') return { lines: [], missing: '' };
  const { lines, missing } = clipLines(message, linesMax);
  return { lines: missing === '' ? lines : [...lines, `[${missing}]`], missing };
}

/** What is typed for an option: the letter of an approval's answer, the number of any other. */
function keyOf({ params }: UiRequest, { value }: Option, at: number): string {
  return params.kind === 'approval' && isApprovalAnswer(value) ? approvalAnswers[value].key : String(at + 1);
}

/** What to type. */
export function hintOf({ method, params }: UiRequest): string {
  switch (method) {
    case 'select': {
      const options = optionsOf(params.options);
      if (params.kind !== 'approval') return `a number from 1 to ${options.length}`;
      const keys = options.flatMap(({ value }) => (isApprovalAnswer(value) ? [approvalAnswers[value].key] : []));
      return `${keys.join(', ')}, or ${denyReasonKey} and a reason, with which the run goes on`;
    }
    case 'confirm':
      return 'y or n';
    case 'input':
    case 'editor':
      return textOf(params.placeholder) === '' ? 'a text' : printableLine(textOf(params.placeholder));
  }
}

export function readAnswer(request: UiRequest, typed: string): ReadAnswer {
  const { method, params } = request;
  const words = typed.trim();
  switch (method) {
    case 'confirm':
      if (/^(y|yes|true)$/i.test(words)) return { ok: true, result: true };
      if (/^(n|no|false)$/i.test(words)) return { ok: true, result: false };
      return { ok: false, hint: hintOf(request) };
    case 'select':
      return params.kind === 'approval' ? readApproval(request, words) : readChoice(request, words);
    case 'input':
    case 'editor':
      return { ok: true, result: typed === '' ? textOf(params.default) : typed };
  }
}

function readChoice(request: UiRequest, words: string): ReadAnswer {
  const options = optionsOf(request.params.options);
  const wanted = words.toLowerCase();
  const found =
    options.find(({ value }) => value === words) ??
    options.find(({ label }) => label.toLowerCase() === wanted) ??
    (/^[1-9]\d*$/.test(words) ? options[Number(words) - 1] : undefined);
  return found ? { ok: true, result: found.value } : { ok: false, hint: hintOf(request) };
}

/** An approval is answered by its letter, its word or its value, never by a number: the same number would mean another thing elsewhere. */
function readApproval(request: UiRequest, words: string): ReadAnswer {
  const wanted = words.toLowerCase();
  const found = optionsOf(request.params.options).find(({ value }) => {
    if (!isApprovalAnswer(value)) return false;
    const { key, word } = approvalAnswers[value];
    return wanted === key || wanted === word || words === value || (value === 'deny' && /^(n|no)$/.test(wanted));
  });
  if (found) return { ok: true, result: found.value };
  const reason = new RegExp(`^(?:deny|${denyReasonKey})\\s+(\\S[^]*)$`, 'i').exec(words)?.[1];
  if (reason !== undefined) return { ok: true, result: { value: 'deny', reason } };
  const hint = hintOf(request);
  return { ok: false, hint: /^\d+$/.test(words) ? `${hint}; approvals are not answered with numbers` : hint };
}

/** An answer as words. */
export function describeAnswer(result: unknown): string {
  if (typeof result === 'boolean') return result ? 'yes' : 'no';
  if (typeof result === 'string') return printableLine(result);
  if (typeof result === 'object' && result !== null && 'value' in result && 'reason' in result) {
    const reason = String(result.reason).trim();
    return printableLine(reason === '' ? String(result.value) : `${String(result.value)}, because ${reason}`);
  }
  return result === null || result === undefined ? 'nothing' : printableLine(JSON.stringify(result));
}

function optionsOf(options: unknown): Option[] {
  if (!Array.isArray(options)) return [];
  return options.map((option: unknown) => {
    if (typeof option !== 'object' || option === null) return { value: String(option), label: String(option) };
    const { value, label } = option as { value?: unknown; label?: unknown };
    return { value: String(value), label: typeof label === 'string' ? label : String(value) };
  });
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
