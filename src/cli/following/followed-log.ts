import { setTimeout as delay } from 'node:timers/promises';
import type { Berth } from '../../client/connect.js';
import { ConnectionLost, DaemonUnresponsive, NoDaemon } from '../../client/errors.js';
import { SubscribeRefused, type EventStream } from '../../client/event-client.js';
import type { WireEvent } from '../../protocol/events.js';
import { limits } from '../../protocol/limits.js';

/** A durable event, or a gap: events up to `to` that can no longer be read. */
export type Followed = { kind: 'event'; seq: number; event: WireEvent } | { kind: 'gap'; from: number; to: number };

interface Deps {
  berth: Berth;
  /** Events with a higher seq are followed; those from now on when undefined. */
  after: number | undefined;
  signal: AbortSignal;
  onLost(): void;
  onBack(): void;
}

/** The durable events of all sessions until the signal fires. Waits for a daemon that is away, and goes on where it was. */
export async function* followLog({ berth, after, signal, onLost, onBack }: Deps): AsyncGenerator<Followed, void> {
  let position = after;
  let logId = berth.hello().log_id;
  let isLost = false;
  let waitMs: number = limits.attachRetryMinMs;
  const isStopped = (): boolean => signal.aborted;

  /** The stream, or the gap before the position from which another attempt can read. */
  async function open(): Promise<EventStream | Followed> {
    try {
      return await berth.subscribe({ sessionId: '*', after: position, logId, live: false });
    } catch (error) {
      if (!(error instanceof SubscribeRefused) || error.refusal.code !== 'cursor_expired' || position === undefined) throw error;
      const { seq, floor, log_id: currentLog } = error.refusal.details as { seq: number; floor: number; log_id: string };
      // Of another store, nothing is known before now.
      const to = currentLog === logId && floor > position ? floor : seq;
      logId = currentLog;
      const gap: Followed = { kind: 'gap', from: position, to };
      position = to;
      return gap;
    }
  }

  while (!isStopped()) {
    try {
      const opened = await open();
      if ('kind' in opened) {
        yield opened;
        continue;
      }
      const close = (): void => opened.close();
      signal.addEventListener('abort', close, { once: true });
      try {
        position ??= opened.seq;
        if (isLost) onBack();
        isLost = false;
        waitMs = limits.attachRetryMinMs;
        for await (const event of opened) {
          if (event.seq === undefined) continue;
          position = event.seq;
          yield { kind: 'event', seq: event.seq, event };
          if (isStopped()) return;
        }
      } finally {
        signal.removeEventListener('abort', close);
        opened.close();
      }
    } catch (error) {
      if (!isConnectionError(error)) throw error;
    }
    if (isStopped()) return;
    if (!isLost) onLost();
    isLost = true;
    await delay(waitMs);
    waitMs = Math.min(2 * waitMs, limits.attachRetryMaxMs);
  }
}

/** Whether a daemon that is away, or does not answer, is the reason. */
export function isConnectionError(error: unknown): boolean {
  return [ConnectionLost, NoDaemon, DaemonUnresponsive].some((kind) => error instanceof kind);
}
