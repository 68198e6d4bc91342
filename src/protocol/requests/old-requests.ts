import { approvalAnswers, denyWithReason, isApprovalChoice } from './approval-answers.js';
import type { RuleRow } from '../permissions.js';
import type { ApprovalOption, ApprovalParams, ApprovalSubject, QuestionParams, RequestParams, TrustParams, UiMethod } from './requests.js';

type Fields = Readonly<Record<string, unknown>>;

/** A request of any version: a stored one, or one from a daemon that is older than its client. */
export interface AnyRequest {
  session_id: string;
  method: UiMethod;
  params: RequestParams | Fields;
}

/**
 * The params of a request in today's shape, whichever version has put it. What an older one did not say is made of what it said; a request
 * without a kind, or of an unknown one, is a question that is shown by its method.
 */
export function currentParams({ session_id, method, params }: AnyRequest): RequestParams {
  if (isCurrent(params)) return params;
  switch (params.kind) {
    case 'approval':
      return toApproval(params, session_id);
    case 'trust':
      return toTrust(params);
    case 'directory':
      // The shape of this kind has never changed.
      return params as RequestParams;
    default:
      return toQuestion(params, method);
  }
}

/** Fields that the current shape always has and older ones lack. */
function isCurrent(params: RequestParams | Fields): params is RequestParams {
  switch (params.kind) {
    case 'approval':
      return 'subject' in params;
    case 'trust':
      return 'content' in params;
    case 'question':
      return 'method' in params;
    default:
      return false;
  }
}

function toApproval(params: Fields, sessionId: string): ApprovalParams {
  const { asked_by: asker, diff, network, rule } = params;
  const command = typeof params.command === 'string' ? params.command : undefined;
  const message = stringOrEmpty(params.message);
  const args = isFields(params.args) ? params.args : {};
  const rules = Array.isArray(params.rules) ? (params.rules as RuleRow[]) : [];
  const { title = '', model = '' } = isFields(asker) ? asker : {};
  const sandboxed = params.sandboxed === true;
  const workspace = stringOrEmpty(params.workspace);
  return {
    kind: 'approval',
    title: stringOrEmpty(params.title),
    tool_name: stringOrEmpty(params.tool_name),
    args,
    subject: subjectOf(command, args, diff),
    ...(typeof diff === 'string' ? { diff, ...(params.diff_is_cut === true ? { diff_is_cut: true } : {}) } : {}),
    sandbox:
      command === undefined
        ? null
        : { kind: sandboxed ? 'sandbox' : 'namespace', network: network === true, writable: sandboxed ? [workspace] : [] },
    workspace,
    asked_by: { session_id: sessionId, title: stringOrEmpty(title), model: stringOrEmpty(model) },
    why: command !== undefined && message.startsWith(command) ? message.slice(command.length).replace(/^\n/, '') : message,
    notes: [],
    digest: stringOrEmpty(params.digest),
    remember: rules,
    options: toOptions(params.options).flatMap(({ value, label }): ApprovalOption[] =>
      isApprovalChoice(value) ? [{ value, label, key: approvalAnswers[value].key }] : [],
    ),
    deny_with_reason: denyWithReason,
    message,
    ...(command === undefined ? {} : { command, network: network === true }),
    sandboxed,
    ...(rules.length === 0 ? {} : { rule: stringOrEmpty(rule), rules }),
  };
}

function subjectOf(command: string | undefined, { path }: Fields, diff: unknown): ApprovalSubject {
  if (command !== undefined) return { kind: 'command', command };
  if (typeof diff === 'string' && typeof path === 'string') return { kind: 'paths', paths: [{ access: 'write', path }] };
  return { kind: 'tool_call' };
}

function toTrust(params: Fields): TrustParams {
  const workspace = stringOrEmpty(params.workspace);
  const message = stringOrEmpty(params.message);
  return {
    kind: 'trust',
    title: stringOrEmpty(params.title),
    what: 'workspace_config',
    path: `${workspace}/.berth/config.json`,
    digest: stringOrEmpty(params.digest),
    content: message,
    warnings: [],
    workspace,
    message,
  };
}

function toQuestion(params: Fields, method: UiMethod): QuestionParams {
  const head = {
    kind: 'question' as const,
    title: stringOrEmpty(params.title),
    ...(typeof params.message === 'string' ? { message: params.message } : {}),
  };
  switch (method) {
    case 'select':
      return { ...head, method, options: toOptions(params.options) };
    case 'confirm':
      return { ...head, method };
    case 'input':
    case 'editor':
      return {
        ...head,
        method,
        ...(typeof params.placeholder === 'string' ? { placeholder: params.placeholder } : {}),
        ...(typeof params.default === 'string' ? { default: params.default } : {}),
      };
  }
}

function toOptions(options: unknown): { value: string; label: string }[] {
  if (!Array.isArray(options)) return [];
  return options.map((option: unknown) => {
    if (!isFields(option)) return { value: String(option), label: String(option) };
    const value = String(option.value);
    return { value, label: typeof option.label === 'string' ? option.label : value };
  });
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function stringOrEmpty(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
