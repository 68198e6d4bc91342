import type { CallPayload, Reply } from '../../client/command-client.js';
import type { CommandType } from '../../protocol/commands/commands.js';
import { describeRefusal } from '../../view/refusal-text.js';

/** The daemon refused a command; the message is for people. */
class Refused extends Error {
  override name = 'Refused';
}

/** The payload of a reply; throws Refused when there is none. */
export function accepted<T extends CommandType>(reply: Reply<T>): CallPayload<T> {
  if (!reply.ok) throw new Refused(describeRefusal(reply.error));
  return reply.payload;
}
