import type { CallPayload, Reply } from '../client/command-client.js';
import type { CommandType } from '../protocol/commands.js';
import type { Refusal, RejectionWord } from '../protocol/errors.js';
import { Refused } from './exit.js';

const sentences: Record<RejectionWord, string> = {
  run_in_progress: 'a run is in progress; use --steer or --follow-up, or stop it with berth abort',
  no_active_run: 'no run is in progress',
  leaf_not_found: 'there is no such message in this session; see berth tree',
  nothing_to_compact: 'there is nothing to compact',
  tool_not_registered: 'there is no such tool',
  extension_command_not_found: 'there is no such extension command',
  empty_prompt: 'there is no text to send',
  input_conflict: 'this input id was used for another text',
  revision_conflict: 'it was changed in the meantime; look again with berth queue',
  queue_full: 'the queue is full; see berth queue',
  not_waiting: 'that message does not wait any more; see berth queue',
  already_resolved: 'that question is not open any more; see berth answer',
  run_not_found: 'there is no run to resume',
  read_only_client: 'this client may only look',
  aborted: 'the run was stopped',
};

/** A refusal as a sentence for a person. */
function toSentence({ code, message, cause }: Refusal): string {
  if (code !== 'command_rejected') return cause === undefined ? message : `${message}: ${cause}`;
  return cause ?? (sentences as Record<string, string>)[message] ?? message;
}

/** What programs tell refusals apart by: of a rejected command, why it was. */
function toCode({ code, message }: Refusal): string {
  return code === 'command_rejected' && Object.hasOwn(sentences, message) ? message : code;
}

/** What was answered; throws Refused when it was a refusal. */
export function orRefused<T extends CommandType>(reply: Reply<T>): CallPayload<T> {
  if (!reply.ok) throw new Refused(toSentence(reply.error), { code: toCode(reply.error) });
  return reply.payload;
}
