import { refusal } from '../protocol/errors.js';
import type { EventPayload, UiMethod, UiRequest } from '../protocol/events.js';
import { limits } from '../protocol/limits.js';
import { accept, recorded, reject, refuse, type AuditEntry, type Decision } from './decision.js';
import type { SessionState } from './session.js';

export interface NewRequest {
  id: string;
  toolCallId: string;
  askKey: string;
  method: UiMethod;
  params: Record<string, unknown>;
  expiresAtMs: number | null;
}

/** What a run waits for, in a line. */
function waitingFor({ kind, title }: Record<string, unknown>): string {
  const what = kind === 'approval' ? 'approval' : kind === 'trust' ? 'a decision about trust' : 'an answer';
  const [line = ''] = typeof title === 'string' ? title.trim().split('\n') : [];
  return `waiting for ${what}${line === '' ? '' : `: ${line.slice(0, limits.statusTextCharsMax).toWellFormed()}`}`;
}

/** Puts a question to whoever is attached, now or later. */
export function askPerson(state: SessionState, request: NewRequest): Decision {
  const { run } = state;
  if (!run?.turn || run.aborting) return reject('aborted');
  const payload: UiRequest = {
    session_id: state.id,
    run_id: run.id,
    turn_id: run.turn.id,
    request_id: request.id,
    tool_call_id: request.toolCallId,
    ask_key: request.askKey,
    method: request.method,
    params: request.params,
    expires_at: request.expiresAtMs === null ? null : new Date(request.expiresAtMs).toISOString(),
  };
  const { session_id, run_id, turn_id, request_id } = payload;
  // For clients that know nothing of ui_request: they see at least why the run stands still.
  const status = { session_id, run_id, turn_id, request_id, message: waitingFor(request.params) };
  return accept(
    [
      { type: 'ui_request', payload },
      { type: 'status', payload: status },
    ],
    undefined,
  );
}

export interface Answer {
  by: string;
  result?: unknown;
  error?: string | null;
  cancelled: boolean;
}

/** The first valid answer wins; the others are told that it is too late. */
export function answerRequest(state: SessionState, requestId: string, answer: Answer): Decision {
  const request = state.requests.find(({ request_id }) => request_id === requestId);
  if (!request) return reject('already_resolved');
  const at = { session_id: state.id, run_id: request.run_id, request_id: requestId, by: answer.by };
  const settle = (outcome: 'cancelled' | 'error' | 'answered', result: unknown): Decision =>
    recorded(resolved({ ...at, outcome, result }), auditOf(request, answer.by, outcome, result));
  if (answer.cancelled) return settle('cancelled', null);
  if (typeof answer.error === 'string') return settle('error', null);
  const problem = wrongAnswer(request, answer.result);
  if (problem) return refuse(refusal('invalid_payload', `result: ${problem}`, { field: 'result' }));
  return settle('answered', answer.result);
}

/** What a person said about a call is on record from then on, whatever becomes of the call. */
function auditOf({ run_id, tool_call_id, params }: UiRequest, by: string, outcome: string, result: unknown): AuditEntry | undefined {
  if (params.kind !== 'approval') return undefined;
  const { tool_name: toolName, title } = params;
  const about = {
    runId: run_id,
    toolCallId: tool_call_id,
    toolName: typeof toolName === 'string' ? toolName : '',
    subject: typeof title === 'string' ? title : '',
    by,
  };
  const verdict = toVerdict(result);
  if (verdict.allow) {
    const scope = verdict.scope === 'once' ? 'once' : `(${verdict.scope})`;
    return { ...about, action: 'allow', why: `allowed ${scope}${verdict.network ? ', with the network' : ''}` };
  }
  const why = verdict.reason ?? (outcome === 'answered' ? 'no reason was given' : `it was ${outcome}`);
  return { ...about, action: 'deny', why };
}

/** A request that nobody may or did answer: its result is null. */
export function closeRequest(state: SessionState, requestId: string, why: 'timeout' | 'denied'): Decision {
  const request = state.requests.find(({ request_id }) => request_id === requestId);
  if (!request) return reject('already_resolved');
  const by = why === 'timeout' ? 'timeout' : 'policy';
  return resolved({ session_id: state.id, run_id: request.run_id, request_id: requestId, by, outcome: why, result: null });
}

function resolved(payload: EventPayload<'ui_resolved'>): Decision {
  return accept([{ type: 'ui_resolved', payload }], undefined);
}

function wrongAnswer({ method, params }: UiRequest, result: unknown): string | undefined {
  if (JSON.stringify(result ?? null).length > limits.answerCharsMax) return `an answer has at most ${limits.answerCharsMax} characters`;
  switch (method) {
    case 'confirm':
      return typeof result === 'boolean' ? undefined : 'a confirm is answered with true or false';
    case 'input':
    case 'editor':
      return typeof result === 'string' || result === null ? undefined : `an ${method} is answered with a text or null`;
    case 'select': {
      if (params.kind === 'approval' && isReasonedDenial(result)) return undefined;
      if (result === null) return params.kind === 'approval' ? 'an approval is answered with one of its options' : undefined;
      const values = optionValues(params.options);
      return values.includes(result) ? undefined : `not one of ${values.map((value) => JSON.stringify(value)).join(', ')}`;
    }
  }
}

function isReasonedDenial(result: unknown): result is { value: 'deny'; reason: string } {
  if (typeof result !== 'object' || result === null) return false;
  const { value, reason } = result as { value?: unknown; reason?: unknown };
  return value === 'deny' && typeof reason === 'string';
}

function optionValues(options: unknown): unknown[] {
  if (!Array.isArray(options)) return [];
  return options.map((option: unknown) => (typeof option === 'object' && option !== null ? (option as { value?: unknown }).value : option));
}

export type Verdict = { allow: true; scope: 'once' | 'session' | 'always'; network?: true } | { allow: false; reason: string | undefined };

/** What the answer to an approval means. No answer is a denial. */
export function toVerdict(result: unknown): Verdict {
  if (result === 'allow_once') return { allow: true, scope: 'once' };
  if (result === 'allow_network') return { allow: true, scope: 'once', network: true };
  if (result === 'allow_session') return { allow: true, scope: 'session' };
  if (result === 'allow_always') return { allow: true, scope: 'always' };
  return { allow: false, reason: isReasonedDenial(result) && result.reason.trim() !== '' ? result.reason : undefined };
}
