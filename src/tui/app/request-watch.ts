import { setTimeout as delay } from 'node:timers/promises';
import type { Berth } from '../../client/connect.js';
import type { EventStream } from '../../client/event-client.js';

/** After a lost connection the stream is opened again with backoff. */
const tuning = { retryMinMs: 250, retryMaxMs: 5_000 } as const;
const everySession = '*';
const heard = new Set(['ui_request', 'ui_resolved', 'session_update']);

/** Calls back when a question of any session is put or resolved. */
export function watchRequests(berth: Pick<Berth, 'subscribe'>, onChange: () => void): { close(): void } {
  const closing = new AbortController();
  let stream: EventStream | undefined;

  async function listen(): Promise<void> {
    stream = await berth.subscribe({ sessionId: everySession, live: false });
    if (closing.signal.aborted) {
      stream.close();
      return;
    }
    onChange();
    for await (const { type } of stream) if (heard.has(type)) onChange();
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
