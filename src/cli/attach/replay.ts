import type { AttachedSession } from '../../client/attach.js';
import type { Berth } from '../../client/connect.js';
import { SubscribeRefused, type EventStream } from '../../client/event-client.js';
import type { WireEvent } from '../../protocol/events.js';
import { Refused } from '../exit.js';

interface Deps {
  berth: Berth;
  attached: AttachedSession;
  after: number;
  show(event: WireEvent): void;
  note(text: string): void;
}

/** Replays the durable events between a seq and the attach. False when the log was pruned beyond that seq. */
export async function replayEvents({ berth, attached, after, show, note }: Deps): Promise<boolean> {
  const stream = await subscribe(after);
  if (!stream) {
    note('[the log does not go back so far; these are the newest messages]');
    return false;
  }
  const end = Math.min(stream.seq, attached.view().seq);
  if (after < end) {
    for await (const event of stream) {
      if (event.seq === undefined || event.seq > end) break;
      show(event);
      if (event.seq === end) break;
    }
  }
  stream.close();
  return true;

  async function subscribe(from: number): Promise<EventStream | undefined> {
    try {
      return await berth.subscribe({ sessionId: attached.sessionId, after: from, live: false });
    } catch (error) {
      if (!(error instanceof SubscribeRefused) || error.refusal.code !== 'cursor_expired') throw error;
      const { seq, floor } = error.refusal.details;
      if (typeof seq === 'number' && from > seq) throw new Refused(`--since ${from}: the log ends at ${seq}`, { cause: error });
      if (typeof floor !== 'number' || floor <= from) return undefined;
      note('[what came before this is not in the log any more]');
      return subscribe(floor);
    }
  }
}
