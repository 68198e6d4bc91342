import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { applyEvent, viewOf, type Berth, type SessionView, type WireEvent } from '../../src/client/index.js';
import { openEventStream, SubscribeRefused, type EventStream } from '../../src/client/event-client.js';
import { createUnixTransport } from '../../src/client/unix-transport.js';
import { ConnectionLost, NoDaemon } from '../../src/client/errors.js';

const reconnectMs = 10;

/** A client that watches one session over a real socket, goes away when told to, and comes back at its cursor. Undefined when there is none. */
export async function createOnlooker(berth: Berth, sessionId: string) {
  let view: SessionView;
  let logId: string;
  let stream: EventStream | undefined;
  let wake: (() => void)[] = [];
  let failure: unknown;
  let closed = false;

  /** False when the session is gone. */
  async function attach(): Promise<boolean> {
    const reply = await berth.call('attach', { session_id: sessionId });
    if (!reply.ok) {
      assert.equal(reply.error.code, 'session_not_found');
      return false;
    }
    view = viewOf(reply.payload);
    logId = reply.payload.log_id;
    return true;
  }

  function hear(event: WireEvent, liveFrom: number): void {
    if (event.type === 'message_update') {
      const open = view.open.find(({ id }) => id === event.payload.message_id);
      assert(open, 'a delta never comes before the event that introduces its message');
      const held = open.blocks[event.payload.block]?.text.length ?? 0;
      assert(event.payload.offset <= held, `a delta at ${event.payload.offset} leaves a hole after ${held}`);
    }
    if (event.type === 'message_end' && event.payload.role === 'assistant' && (event.seq ?? 0) > liveFrom) {
      const said = view.open.find(({ id }) => id === event.payload.message_id)?.blocks ?? [];
      for (const [index, block] of (event.payload.message?.content ?? []).entries()) {
        if (block.type === 'text') assert.equal(said[index]?.text, block.text, 'the whole text comes as deltas before its end');
      }
    }
    if (event.seq !== undefined) assert(event.seq > view.seq, `seq ${event.seq} comes after ${view.seq}`);
    view = applyEvent(view, event);
    wakeAll();
  }

  function wakeAll(): void {
    const waiting = wake;
    wake = [];
    for (const resolve of waiting) resolve();
  }

  /** True when the view must be read anew. */
  async function listenOnce(opened: EventStream): Promise<boolean> {
    for await (const event of opened) {
      if (event.type === 'goodbye') return false;
      hear(event, opened.seq);
      if (view.stale) return true;
    }
    return false;
  }

  /** One connection after the other, each at the cursor of the one before, until there is nothing more to hear. */
  async function listen(): Promise<void> {
    while (!closed && !view.state.deleted) {
      try {
        stream = await openEventStream(createUnixTransport(berth.paths), { sessionId, after: view.seq, logId });
        if ((await listenOnce(stream)) && !(await attach())) return;
      } catch (error) {
        if (error instanceof SubscribeRefused && error.refusal.code === 'session_not_found') return;
        if (!(error instanceof NoDaemon || error instanceof ConnectionLost)) throw error;
        await delay(reconnectMs);
      } finally {
        stream?.close();
      }
    }
  }

  if (!(await attach())) return undefined;
  void listen().catch((error: unknown) => {
    failure ??= error;
    wakeAll();
  });
  return {
    sessionId,
    view: (): SessionView => view,
    /** Loses its connection, and comes back at its cursor. */
    hangUp(): void {
      stream?.close();
    },
    async heard(seq: number): Promise<void> {
      while (view.seq < seq && failure === undefined) await new Promise<void>((resolve) => wake.push(resolve));
      if (failure !== undefined) throw failure as Error;
    },
    close(): void {
      closed = true;
      stream?.close();
    },
  };
}
export type Onlooker = NonNullable<Awaited<ReturnType<typeof createOnlooker>>>;
