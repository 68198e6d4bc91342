import { setTimeout as delay } from 'node:timers/promises';
import type { Berth } from '../../client/connect.js';
import { ConnectionLost, DaemonUnresponsive, NoDaemon } from '../../client/errors.js';
import { SubscribeRefused, type EventStream } from '../../client/event-client.js';
import type { WireEvent } from '../../protocol/events.js';
import { limits } from '../../protocol/limits.js';
import { Refused } from '../exit.js';

interface Span {
  sessionId: string;
  /** The events have a higher seq than this, and none than `upTo`. */
  after: number;
  upTo: number;
  /** Told that events in this span were pruned. */
  onPruned(): void;
}

/** The durable events of a session in a span of the log. Goes on after a lost connection where it was. */
export async function* readLog(berth: Berth, { sessionId, after, upTo, onPruned }: Span): AsyncGenerator<WireEvent, void> {
  let last = after;
  let waitMs: number = limits.attachRetryMinMs;
  for (;;) {
    try {
      const stream = await openLog(berth, sessionId, last, onPruned);
      const end = Math.min(upTo, stream.seq);
      try {
        if (last >= end) return;
        for await (const event of stream) {
          if (event.seq === undefined) continue;
          if (event.seq > end) return;
          last = event.seq;
          waitMs = limits.attachRetryMinMs;
          yield event;
          if (last === end) return;
        }
      } finally {
        stream.close();
      }
    } catch (error) {
      if (![ConnectionLost, NoDaemon, DaemonUnresponsive].some((kind) => error instanceof kind)) throw error;
    }
    await delay(waitMs);
    waitMs = Math.min(2 * waitMs, limits.attachRetryMaxMs);
  }
}

/** Subscribes to what is left of the log after a seq. */
async function openLog(berth: Berth, sessionId: string, after: number, onPruned: () => void): Promise<EventStream> {
  try {
    return await berth.subscribe({ sessionId, after, live: false });
  } catch (error) {
    if (!(error instanceof SubscribeRefused) || error.refusal.code !== 'cursor_expired') throw error;
    const { seq, floor } = error.refusal.details;
    if (typeof seq === 'number' && after > seq) throw new Refused(`--since ${after}: the log ends at ${seq}`, { cause: error });
    if (typeof floor !== 'number' || floor <= after) throw error;
    onPruned();
    return openLog(berth, sessionId, floor, onPruned);
  }
}
