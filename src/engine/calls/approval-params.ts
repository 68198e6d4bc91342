import type { SessionState } from '../../core/session.js';
import type { Ruling } from '../../policy/port.js';
import { approvalAnswers, denyWithReason, type ApprovalChoice } from '../../protocol/requests/approval-answers.js';
import type { ApprovalOption, ApprovalParams, ApprovalSubject } from '../../protocol/requests/requests.js';
import { saySubject } from '../../protocol/rule-words.js';
import { makeVisible } from '../../protocol/sanitize.js';
import type { Preparation } from '../../tools/port.js';
import type { Judgement, ReadyCall } from './authorize-call.js';

/** The approval request of a tool call, as a client shows it. */
export function toApprovalParams(
  state: SessionState,
  { tool, call, title }: ReadyCall,
  { diff, diffIsCut = false, accesses }: Preparation,
  { why, reach, remember, notes, need, lacksNetwork, paths }: Judgement,
  digest: string,
): ApprovalParams {
  const command = accesses?.find((access) => access.kind === 'command')?.command;
  const subject = toSubject(command, paths);
  const { kind, network, writable } = reach.confinement;
  const rule = makeVisible(remember.map((one) => `${one.tool} ${saySubject(one)}`).join('; '));
  const isRuleOffered = remember.length > 0;
  const reason = need?.message ?? why;
  return {
    kind: 'approval',
    title: makeVisible(need?.title ?? title),
    tool_name: tool.name,
    args: call.args,
    subject,
    ...(diff === undefined ? {} : { diff: makeVisible(diff), ...(diffIsCut ? { diff_is_cut: true } : {}) }),
    sandbox: command === undefined ? null : { kind, network, writable: writable.map(makeVisible) },
    workspace: reach.workspace,
    asked_by: { session_id: state.id, title: state.title, model: state.model },
    why: makeVisible(reason),
    notes: notes.map(makeVisible),
    digest,
    remember,
    options: [
      toOption('allow_once', 'Allow once'),
      ...(lacksNetwork ? [toOption('allow_network', 'Allow once, with internet access')] : []),
      ...(isRuleOffered ? [toOption('allow_session', 'Allow this in this session')] : []),
      ...(isRuleOffered ? [toOption('allow_always', `Always allow in this workspace: ${rule}`)] : []),
      toOption('deny', 'Deny, and stop the run'),
    ],
    deny_with_reason: denyWithReason,
    // Compatibility: the fields above in the shape of protocol version 1.
    message: makeVisible([...(command === undefined || need ? [] : [command]), reason, ...notes].join('\n')),
    ...(subject.kind === 'command' ? { command: subject.command, network } : {}),
    sandboxed: command !== undefined && kind === 'sandbox',
    ...(isRuleOffered ? { rule, rules: remember } : {}),
  };
}

function toSubject(command: string | undefined, paths: Ruling['paths']): ApprovalSubject {
  if (command !== undefined) return { kind: 'command', command: makeVisible(command) };
  if (paths.length === 0) return { kind: 'tool_call' };
  return { kind: 'paths', paths: paths.map(({ kind, real }) => ({ access: kind, path: makeVisible(real) })) };
}

function toOption(value: ApprovalChoice, label: string): ApprovalOption {
  return { value, label, key: approvalAnswers[value].key };
}
