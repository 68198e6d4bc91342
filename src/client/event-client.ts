import { refusal, type Refusal } from '../protocol/errors.js';
import type { WireEvent } from '../protocol/events.js';
import { limits } from '../protocol/limits.js';
import { ConnectionLost, DaemonUnresponsive } from './errors.js';
import { onLines } from './lines.js';
import type { Transport } from './transport.js';

export interface SubscribeOptions {
  sessionId: string;
  /** The cursor: events with a higher seq are sent; only new events when absent. */
  after?: number | undefined;
  logId?: string | undefined;
  live?: boolean | undefined;
  clientId?: string | undefined;
}

/** The daemon refused the subscription: the cursor is too old, or the session is gone. */
export class SubscribeRefused extends Error {
  override name = 'SubscribeRefused';
  constructor(readonly refusal: Refusal) {
    super(refusal.message);
  }
}

/** Events in order, until the connection ends. With backpressure: a slow reader loses no events. */
export interface EventStream extends AsyncIterable<WireEvent> {
  /** The seq of the newest event in scope when the subscription began. */
  readonly seq: number;
  readonly logId: string;
  close(): void;
}

interface SubscribedLine {
  type?: string;
  ok?: boolean;
  error?: Refusal;
  payload?: { seq: number; log_id: string };
}

export async function openEventStream(transport: Transport, options: SubscribeOptions): Promise<EventStream> {
  const stream = await transport.open('events');
  const buffered: WireEvent[] = [];
  let wakeReader: (() => void) | undefined;
  let ended = false;
  let subscribed: { resolve(line: SubscribedLine): void; reject(error: Error): void } | undefined;
  const answer = new Promise<SubscribedLine>((resolve, reject) => (subscribed = { resolve, reject }));

  function wake(): void {
    wakeReader?.();
    wakeReader = undefined;
  }

  onLines(
    stream,
    (value) => {
      if (subscribed) {
        // Lines before the reply are events for clients of protocol version 1, which never subscribe.
        const line = value as SubscribedLine;
        if (line.ok === undefined) return;
        subscribed.resolve(line);
        subscribed = undefined;
        return;
      }
      buffered.push(value as WireEvent);
      if (buffered.length >= limits.unreadEventsMax) stream.pause();
      wake();
    },
    () => {
      ended = true;
      subscribed?.reject(new ConnectionLost('the connection to the daemon was lost before its reply'));
      wake();
    },
  );
  const { sessionId: session_id, after, logId: log_id, live, clientId: client_id } = options;
  stream.write(`${JSON.stringify({ v: '1', id: 's1', type: 'subscribe', payload: { session_id, after, log_id, live, client_id } })}\n`);
  const seconds = limits.unansweredMs / 1000;
  const timer = setTimeout(() => {
    subscribed?.reject(new DaemonUnresponsive(`the daemon has not answered for ${seconds} s; see berth daemon status`));
    stream.destroy();
  }, limits.unansweredMs);
  const line = await answer.finally(() => clearTimeout(timer));
  if (!line.payload || line.error) {
    stream.destroy();
    throw new SubscribeRefused(line.error ?? refusal('internal_error', 'the daemon sent an invalid reply to subscribe'));
  }

  async function* read(): AsyncGenerator<WireEvent, void> {
    for (;;) {
      while (buffered.length > 0) {
        const event = buffered.shift();
        if (event) yield event;
      }
      if (ended) return;
      stream.resume();
      await new Promise<void>((resolve) => (wakeReader = resolve));
    }
  }

  return {
    seq: line.payload.seq,
    logId: line.payload.log_id,
    [Symbol.asyncIterator]: read,
    close() {
      ended = true;
      stream.destroy();
      wake();
    },
  };
}
