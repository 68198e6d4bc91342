import type { CallPayload, Reply } from '../client/command-client.js';
import type { CommandType } from '../protocol/commands/commands.js';
import { describeRefusal, refusalCode, type Remedies } from '../view/refusal-text.js';
import { Refused } from './exit.js';

const remedies: Remedies = {
  run_in_progress: 'use --steer or --follow-up, or stop it with berth abort',
  leaf_not_found: 'see berth tree',
  revision_conflict: 'look again with berth queue',
  queue_full: 'see berth queue',
  not_waiting: 'see berth queue',
  already_resolved: 'see berth answer',
};

/** The payload of a reply; throws Refused for a refusal. */
export function orRefused<T extends CommandType>(reply: Reply<T>): CallPayload<T> {
  if (!reply.ok) throw new Refused(describeRefusal(reply.error, remedies), { code: refusalCode(reply.error) });
  return reply.payload;
}
