import { setTimeout as delay } from 'node:timers/promises';
import type { Berth } from './connect.js';
import type { EventStream } from './event-client.js';
import type { WireEvent } from '../protocol/events.js';

/** After a lost connection the stream is opened again with backoff. */
const tuning = { retryMinMs: 250, retryMaxMs: 5_000 } as const;
const everySession = '*';
const heard = new Set(['ui_request', 'ui_resolved', 'session_update']);

interface Listener {
  /** A question of any session was put or resolved. */
  onChange(): void;
  /** config.json was read again. */
  onConfig(event: Extract<WireEvent, { type: 'config_update' }>): void;
}

/** Listens to what the events of one session do not tell. */
export function watchAround(berth: Pick<Berth, 'subscribe'>, { onChange, onConfig }: Listener): { close(): void } {
  const closing = new AbortController();
  let stream: EventStream | undefined;

  async function listen(): Promise<void> {
    stream = await berth.subscribe({ sessionId: everySession, live: false });
    if (closing.signal.aborted) {
      stream.close();
      return;
    }
    onChange();
    for await (const event of stream) {
      if (heard.has(event.type)) onChange();
      if (event.type === 'config_update') onConfig(event);
    }
  }

  async function run(): Promise<void> {
    for (let waitMs: number = tuning.retryMinMs; !closing.signal.aborted; waitMs = Math.min(2 * waitMs, tuning.retryMaxMs)) {
      try {
        await listen();
        waitMs = tuning.retryMinMs;
      } catch (error) {
        // The attached session says that the daemon is away.
        if (!(error instanceof Error)) throw error;
      }
      await delay(waitMs, undefined, { signal: closing.signal, ref: false }).catch(() => undefined);
    }
  }

  void run();
  return {
    close() {
      closing.abort();
      stream?.close();
    },
  };
}
