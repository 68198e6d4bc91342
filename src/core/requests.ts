import { isDeniedWithReason } from '../protocol/requests/approval-answers.js';
import { refusal } from '../protocol/errors.js';
import type { EventPayload, Fact } from '../protocol/events.js';
import { limits } from '../protocol/limits.js';
import { checkAnswer, type UiAnswer } from '../protocol/requests/request-answers.js';
import { methodOf, type RequestParams, type UiRequest } from '../protocol/requests/requests.js';
import { accept, recorded, reject, refuse, type AuditEntry, type Decision } from './decision.js';
import { addRules, setTrust, type RuleNumbers } from './permissions.js';
import type { SessionState } from './session.js';

export interface NewRequest {
  id: string;
  toolCallId: string;
  askKey: string;
  params: RequestParams;
  expiresAtMs: number | null;
}

/** The status text of a run that waits for a request. */
function waitingFor({ kind, title }: RequestParams): string {
  const what = kind === 'approval' ? 'approval' : kind === 'trust' ? 'a decision about trust' : 'an answer';
  const [line = ''] = title.trim().split('\n');
  return `waiting for ${what}${line === '' ? '' : `: ${line.slice(0, limits.statusTextCharsMax).toWellFormed()}`}`;
}

/** Makes a request to a person, for clients that are attached now or later. */
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
    method: methodOf(request.params),
    params: request.params,
    expires_at: request.expiresAtMs === null ? null : new Date(request.expiresAtMs).toISOString(),
  };
  const { session_id, run_id, turn_id, request_id } = payload;
  // Compatibility: clients without ui_request see why the run waits.
  const status = { session_id, run_id, turn_id, request_id, message: waitingFor(request.params) };
  return accept(
    [
      { type: 'ui_request', payload },
      { type: 'status', payload: status },
    ],
    undefined,
  );
}

/** The response of a client to a request; `result` is validated by the kind of the request. */
export interface Response {
  by: string;
  result?: unknown;
  error?: string | null;
  cancelled: boolean;
}

/** Race: the first valid answer wins; later ones are refused as `already_resolved`. */
export function answerRequest(state: SessionState, requestId: string, response: Response, existing: RuleNumbers): Decision {
  const request = state.requests.find(({ request_id }) => request_id === requestId);
  if (!request) return reject('already_resolved');
  const { by } = response;
  const settle = (outcome: 'cancelled' | 'error' | 'answered', result: UiAnswer, effects: readonly Fact[] = []): Decision =>
    recorded(
      resolved(
        {
          session_id: state.id,
          run_id: request.run_id,
          request_id: requestId,
          by,
          outcome,
          result,
          ...(isSecret(request.params) ? { secret: true } : {}),
        },
        effects,
      ),
      auditOf(request, by, outcome, result),
    );
  if (response.cancelled) return settle('cancelled', null);
  if (typeof response.error === 'string') return settle('error', null);
  const checked = checkAnswer(request.params, response.result);
  if (!checked.ok) return refuseAnswer(checked.field, checked.problem);
  const effects = lastingEffects(request, checked.answer, by, existing);
  return effects.ok
    ? settle('answered', checked.answer, effects.facts)
    : refuseAnswer('result', `${effects.refusal.message}, or allow it once`);
}

/** Refuses an invalid answer: the request stays open. */
function refuseAnswer(field: string, problem: string): Decision {
  return refuse(refusal('invalid_payload', `${field}: ${problem}`, { field }));
}

function isSecret(params: RequestParams): boolean {
  return params.kind === 'question' && 'secret' in params && params.secret === true;
}

/** The audit entry of a person's answer, written in the commit of the answer. */
function auditOf({ run_id, tool_call_id, params }: UiRequest, by: string, outcome: string, result: UiAnswer): AuditEntry | undefined {
  if (params.kind !== 'approval') return undefined;
  const about = { runId: run_id, toolCallId: tool_call_id, toolName: params.tool_name, subject: params.title, by };
  const verdict = toVerdict(result);
  if (verdict.allow) {
    const scope = verdict.scope === 'once' ? 'once' : `(${verdict.scope})`;
    return { ...about, action: 'allow', why: `allowed ${scope}${verdict.network ? ', with the network' : ''}` };
  }
  const why = verdict.reason ?? (outcome === 'answered' ? 'no reason was given' : `it was ${outcome}`);
  return { ...about, action: 'deny', why };
}

/** Resolves a request without an answer: its result is null. */
export function closeRequest(state: SessionState, requestId: string, why: 'timeout' | 'denied'): Decision {
  const request = state.requests.find(({ request_id }) => request_id === requestId);
  if (!request) return reject('already_resolved');
  const by = why === 'timeout' ? 'timeout' : 'policy';
  return resolved({ session_id: state.id, run_id: request.run_id, request_id: requestId, by, outcome: why, result: null });
}

function resolved(payload: EventPayload<'ui_resolved'>, effects: readonly Fact[] = []): Decision {
  return accept([{ type: 'ui_resolved', payload }, ...effects], undefined);
}

/** The rules or trust that an answer adds, in the commit of the answer. */
function lastingEffects({ session_id, params }: UiRequest, result: UiAnswer, by: string, existing: RuleNumbers): Decision {
  if (params.kind === 'trust' && typeof result === 'boolean') {
    return setTrust({ workspace: params.workspace, digest: params.digest, trusted: result, by });
  }
  if (params.kind !== 'approval') return accept([], undefined);
  if (result === 'allow_session') return addRules({ workspace: null, sessionId: session_id }, params.remember, by, existing);
  if (result === 'allow_always') return addRules({ workspace: params.workspace, sessionId: null }, params.remember, by, existing);
  return accept([], undefined);
}

export type Verdict = { allow: true; scope: 'once' | 'session' | 'always'; network?: true } | { allow: false; reason: string | undefined };

/** The meaning of an answer to an approval. No answer is a denial. */
export function toVerdict(result: UiAnswer): Verdict {
  if (result === 'allow_once') return { allow: true, scope: 'once' };
  if (result === 'allow_network') return { allow: true, scope: 'once', network: true };
  if (result === 'allow_session') return { allow: true, scope: 'session' };
  if (result === 'allow_always') return { allow: true, scope: 'always' };
  return { allow: false, reason: isDeniedWithReason(result) && result.reason.trim() !== '' ? result.reason : undefined };
}
