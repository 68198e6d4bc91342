import { setImmediate as afterPoll, setTimeout as delay } from 'node:timers/promises';
import type { WireEvent } from '../protocol/events.js';
import { limits } from '../protocol/limits.js';
import type { SentInput } from '../view/sent-inputs.js';
import type { Delivery, NewInput } from './delivery.js';
import { ConnectionLost, DaemonUnresponsive, HostUnreachable, NoDaemon, StartFailed } from './errors.js';
import { openEventStream, SubscribeRefused, type EventStream } from './event-client.js';
import { hasRoom, keepNewest, keepOlder, olderPageOf, prependPage, type MessagePage, type PageBefore } from '../view/paging.js';
import { applyEvent, viewOf, type SessionView, type Snapshot } from '../view/session-view.js';
import type { Transport } from './transport.js';

/**
 * What an attached session reports: an event that is already in the view, a view from a new snapshot, or the state of the connection.
 * `gone` follows `lost` when no daemon listens and none was started: `why` says why the start failed. `lost` is heard again when another machine
 * cannot be reached, with why.
 */
export type Heard =
  | { kind: 'event'; event: WireEvent }
  | { kind: 'reset' }
  | { kind: 'lost'; why?: string }
  | { kind: 'gone'; why?: string }
  | { kind: 'back' };

/** The result of loading older messages. */
export interface OlderLoaded {
  /** How many messages were prepended to the view. */
  added: number;
  hasMore: boolean;
  /** The view is at its size limit: older messages have to be read with `get_messages`. */
  full: boolean;
}

export interface AttachedSession extends AsyncIterable<Heard> {
  readonly sessionId: string;
  /** The session as of the last event. The view has a bounded number of messages, the newest; `pathCount` says how many there are. */
  view(): SessionView;
  /**
   * Loads at most `limit` messages before the first one of the view, with no gap and no duplicate, whatever happens meanwhile. Concurrent
   * calls share one load. Rejects with AttachRefused when the session is gone.
   */
  loadOlder(limit?: number): Promise<OlderLoaded>;
  /**
   * Sends an input to this session. The input is in the outbox on disk until a daemon has committed it, so it is delivered exactly once
   * and in order, also when no daemon runs now or this program is killed. Resolves when the input is committed or returned, or when it has
   * to wait in the outbox. Rejects with OutboxFull.
   */
  send(command: SentInput['command'], input: NewInput): Promise<SentInput>;
  /** The inputs that were sent from here, or that ended processes left in the outbox, with their states. */
  sent(): readonly SentInput[];
  /** Removes a returned input from the outbox, once it was shown to its person. */
  dismiss(inputId: string): void;
  /** Resolves when no input is being sent: those still in the outbox wait for a daemon. */
  flushed(): Promise<void>;
  close(): void;
}

interface Deps {
  transport: Transport;
  /** Reconnects and repeats the hello, so that requests to people can still be answered through this client. */
  connected(): Promise<void>;
  /** Reads a snapshot of the session. */
  snapshot(): Promise<Snapshot & { log_id: string }>;
  /** Reads a page of messages. */
  readPage(page: PageBefore & { limit: number }): Promise<MessagePage>;
  clientId(): string | undefined;
  openDelivery(sessionId: string, logId: () => string): Delivery;
  /** Starts the daemon again; absent for clients without autostart. */
  revive?: (() => Promise<void>) | undefined;
}

/**
 * Keeps a view of a session up to date: a snapshot, then every event after it, with no gap and no duplicate. After a lost connection the
 * client reconnects with backoff and resumes at its cursor; when the cursor has expired, it reads a new snapshot. A daemon that crashed is
 * started again, a few times at most; a daemon that sent a goodbye was shut down, and is not started.
 */
export async function attachSession({
  transport,
  connected,
  snapshot,
  readPage,
  openDelivery,
  clientId,
  revive,
}: Deps): Promise<AttachedSession> {
  const first = await snapshot();
  const closing = new AbortController();
  let { log_id: logId } = first;
  let view = viewOf(first);
  const delivery = openDelivery(first.state.session_id, () => logId);
  let stream: EventStream | undefined;
  let wasStopped = false;
  let revivesLeft: number = limits.reviveAttemptsMax;
  let loading: Promise<OlderLoaded> | undefined;

  async function reset(): Promise<void> {
    const fresh = await snapshot();
    logId = fresh.log_id;
    view = bounded(keepOlder(viewOf(fresh), view));
    delivery.hearQueue(view.state.inputs);
  }

  async function loadPage(limit: number): Promise<OlderLoaded> {
    for (let attempt = 0; attempt < limits.olderPageAttemptsMax; attempt++) {
      const wanted = olderPageOf(view);
      if (!wanted || !hasRoom(view, limits.viewMessagesMax, limits.viewTextUnitsMax)) break;
      const page = await readPage({ ...wanted, limit });
      const before = view.messages.length;
      const whole = prependPage(view, page);
      // Race: the first message of the view has changed meanwhile, by another leaf or because the oldest messages were dropped.
      if (whole === view) continue;
      view = bounded(whole);
      return { added: view.messages.length - before, hasMore: view.hasMore, full: isFull() || view !== whole };
    }
    return { added: 0, hasMore: view.hasMore, full: isFull() };
  }

  function isFull(): boolean {
    return view.hasMore && !hasRoom(view, limits.viewMessagesMax, limits.viewTextUnitsMax);
  }

  function hearEvent(event: WireEvent): void {
    const next = applyEvent(view, event);
    view = next.messages === view.messages ? next : bounded(next);
    delivery.hear(event);
  }

  /** The events of one connection. True when a new snapshot is needed. */
  async function* listen(): AsyncGenerator<Heard, boolean> {
    stream = await openEventStream(transport, { sessionId: view.state.id, after: view.seq, logId, clientId: clientId() });
    // Race: the session was closed while the stream was being opened.
    if (closing.signal.aborted) return false;
    for await (const event of stream) {
      if (event.type === 'goodbye') {
        wasStopped = true;
        yield { kind: 'event', event };
        return false;
      }
      hearEvent(event);
      yield { kind: 'event', event };
      if (view.stale) return true;
    }
    return false;
  }

  /** True when listening ended because a new snapshot is needed. */
  async function* listenOrExpire(): AsyncGenerator<Heard, boolean> {
    try {
      return yield* listen();
    } catch (error) {
      if (error instanceof SubscribeRefused && error.refusal.code === 'cursor_expired') return true;
      throw error;
    } finally {
      stream?.close();
    }
  }

  /** True when the daemon was started again, `lost` when its machine was; otherwise why the start failed, if there was one. */
  async function tryRevive(): Promise<true | 'lost' | { why?: string }> {
    if (!revive || wasStopped || revivesLeft === 0) return {};
    revivesLeft--;
    try {
      await revive();
      return true;
    } catch (error) {
      if (error instanceof ConnectionLost) {
        revivesLeft++;
        return 'lost';
      }
      if (!(error instanceof StartFailed || error instanceof DaemonUnresponsive)) throw error;
      return { why: error.message };
    }
  }

  function isOver(): boolean {
    return closing.signal.aborted || view.state.deleted;
  }

  async function* hear(): AsyncGenerator<Heard, void> {
    let waitMs: number = limits.attachRetryMinMs;
    let lost = false;
    let gone = false;
    let toldWhy: string | undefined;
    let listeningSince = performance.now();
    while (!isOver()) {
      let isDaemonMissing = false;
      let why: string | undefined;
      try {
        await connected();
        wasStopped = false;
        delivery.flush();
        listeningSince = performance.now();
        if (lost) yield { kind: 'back' };
        lost = false;
        gone = false;
        toldWhy = undefined;
        waitMs = limits.attachRetryMinMs;
        if (yield* listenOrExpire()) {
          await reset();
          yield { kind: 'reset' };
          continue;
        }
      } catch (error) {
        if (![NoDaemon, ConnectionLost, DaemonUnresponsive].some((kind) => error instanceof kind)) throw error;
        isDaemonMissing = error instanceof NoDaemon;
        if (error instanceof HostUnreachable) why = error.message;
      }
      if (isOver()) return;
      if (!lost && performance.now() - listeningSince > limits.reviveAgainMs) revivesLeft = limits.reviveAttemptsMax;
      if (!lost) yield { kind: 'lost' };
      lost = true;
      if (why !== undefined && why !== toldWhy) yield { kind: 'lost', why };
      toldWhy = why ?? toldWhy;
      if (isDaemonMissing && !gone) {
        const revived = await tryRevive();
        if (revived === true) continue;
        if (revived !== 'lost') {
          yield { kind: 'gone', ...revived };
          gone = true;
        }
      }
      await waitUnlessClosed(waitMs);
      waitMs = Math.min(2 * waitMs, limits.attachRetryMaxMs);
    }
  }

  async function waitUnlessClosed(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: closing.signal }).catch((error: unknown) => {
      if (!closing.signal.aborted) throw error;
    });
    // Timers fire before sockets are read: the end of the other connection may have arrived.
    await afterPoll();
  }

  return {
    sessionId: first.state.session_id,
    view: () => view,
    loadOlder(limit = limits.viewPageRowsDefault) {
      loading ??= loadPage(Math.min(limit, limits.pageRowsMax)).finally(() => (loading = undefined));
      return loading;
    },
    send: delivery.send,
    sent: delivery.sent,
    dismiss: delivery.dismiss,
    flushed: delivery.flushed,
    [Symbol.asyncIterator]: hear,
    close() {
      closing.abort();
      delivery.close();
      stream?.close();
    },
  };
}

function bounded(view: SessionView): SessionView {
  return keepNewest(view, limits.viewMessagesMax, limits.viewTextUnitsMax);
}
