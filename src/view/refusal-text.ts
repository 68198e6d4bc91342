import type { Refusal, RejectionWord } from '../protocol/errors.js';
import { printable } from './printable.js';

const rejections: Record<RejectionWord, string> = {
  run_in_progress: 'a run is in progress',
  no_active_run: 'no run is in progress',
  leaf_not_found: 'there is no such message in this session',
  nothing_to_compact: 'there is nothing to compact',
  tool_not_registered: 'there is no such tool',
  extension_command_not_found: 'there is no such extension command',
  empty_prompt: 'there is no text to send',
  input_conflict: 'this input id was used for another text',
  revision_conflict: 'it was changed in the meantime',
  queue_full: 'the queue is full',
  not_waiting: 'that message does not wait any more',
  already_resolved: 'that question is not open any more',
  run_not_found: 'there is no run to resume',
  read_only_client: 'this client may only look',
  aborted: 'the run was stopped',
};

/** The remedies for rejected commands in one frontend. */
export type Remedies = Partial<Record<RejectionWord, string>>;

/** Describes a refusal in a sanitized sentence, with the frontend's remedy. */
export function describeRefusal({ code, message, cause }: Refusal, remedies: Remedies = {}): string {
  if (code !== 'command_rejected') return printable(cause === undefined ? message : `${message}: ${cause}`);
  if (cause !== undefined) return printable(cause);
  if (!isRejection(message)) return printable(message);
  const remedy = remedies[message];
  return remedy === undefined ? rejections[message] : `${rejections[message]}; ${remedy}`;
}

/** The error code of a refusal for programs; of a rejected command, the rejection word. */
export function refusalCode({ code, message }: Refusal): string {
  return code === 'command_rejected' && isRejection(message) ? message : code;
}

function isRejection(message: string): message is RejectionWord {
  return Object.hasOwn(rejections, message);
}
