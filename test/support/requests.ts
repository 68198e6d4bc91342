import { currentParams } from '../../src/protocol/requests/old-requests.js';
import {
  methodOf,
  requestShapes,
  type ApprovalParams,
  type QuestionParams,
  type RequestParams,
  type UiMethod,
  type UiRequest,
} from '../../src/protocol/requests/requests.js';

/** A question of which only what matters is said. */
export function questionParams(method: UiMethod, said: { title?: string; options?: string[]; default?: string } = {}): QuestionParams {
  const params = currentParams({ session_id: 'ses_a', method, params: { title: 'x', ...said } });
  if (params.kind !== 'question') throw new Error('what has no kind is a question');
  return params;
}

/** An approval of which only what matters is said: without it, a command that can be allowed once. */
export function approvalParams(said: Partial<ApprovalParams> = {}): ApprovalParams {
  return {
    kind: 'approval',
    title: 'make',
    tool_name: 'bash',
    args: { command: 'make' },
    subject: { kind: 'command', command: 'make' },
    sandbox: { kind: 'sandbox', network: false, writable: ['/w'] },
    workspace: '/w',
    asked_by: { session_id: 'ses_a', title: '', model: 'a/b' },
    why: 'no rule allows it',
    notes: [],
    digest: 'd',
    remember: [],
    options: [
      { value: 'allow_once', label: 'Allow once', key: 'a' },
      { value: 'deny', label: 'Deny, and stop the run', key: 'd' },
    ],
    deny_with_reason: { key: 'r', label: 'Deny with a reason, and go on' },
    message: 'make\nno rule allows it',
    sandboxed: true,
    ...said,
  };
}

export function uiRequest(params: RequestParams): UiRequest {
  const address = { session_id: 'ses_a', run_id: 'run_a', turn_id: '1', request_id: 'req_a', tool_call_id: 'call_1', ask_key: 'k' };
  return { ...address, method: methodOf(params), params, expires_at: null };
}

/** What an approval asks; it is in the shape that the contract promises. */
export function approvalOf({ params }: UiRequest): ApprovalParams {
  if (params.kind !== 'approval') throw new Error(`a ${params.kind} is no approval`);
  requestShapes.approval_params().parse(params);
  return params;
}

/** A request of which only what matters is said. */
export function ask(method: UiMethod, said: Record<string, unknown>): UiRequest {
  const address = { session_id: 'ses_0123456789abc', run_id: 'r', turn_id: '1', request_id: 'q', tool_call_id: 'c', ask_key: 'k' };
  return { ...address, method, params: currentParams({ session_id: address.session_id, method, params: said }), expires_at: null };
}

/** An approval with everything in it, and a text that looks like a line of ours. */
export const fullApproval = {
  kind: 'approval',
  title: 'make\n1) Allow',
  command: 'make\n1) Allow once\nrm x',
  message: 'make\n1) Allow once\nrm x\nno rule allows it\nIt runs in the sandbox, with the network.',
  tool_name: 'bash',
  args: {},
  asked_by: { session_id: 'ses_0123456789abc', title: 'the \u001b[2Jbuild', model: 'a/b' },
  workspace: '/w',
  sandboxed: true,
  network: true,
  options: [
    { value: 'allow_once', label: 'Allow once' },
    { value: 'allow_session', label: 'Allow this in this session' },
    { value: 'allow_always', label: 'Always allow in this workspace: bash make' },
    { value: 'deny', label: 'Deny, and stop the run' },
  ],
};
