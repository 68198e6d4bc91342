import { setImmediate as afterPoll, setTimeout as delay } from 'node:timers/promises';
import type { WireEvent } from '../protocol/events.js';
import { limits } from '../protocol/limits.js';
import type { SentInput } from '../view/sent-inputs.js';
import type { Delivery, NewInput } from './delivery.js';
import { ConnectionLost, DaemonUnresponsive, NoDaemon, StartFailed } from './errors.js';
import { openEventStream, SubscribeRefused, type EventStream } from './event-client.js';
import { hasRoom, keepNewest, keepOlder, olderPageOf, prependPage, type MessagePage, type PageBefore } from '../view/paging.js';
import { applyEvent, viewOf, type SessionView, type Snapshot } from '../view/session-view.js';
import type { Transport } from './transport.js';

/**
 * What an attached client hears: an event that is already in the view, a view that was read anew, or the state of the connection.
 * `gone` follows `lost` when no daemon listens any more and none is started: `why` says what kept it from being started.
 */
export type Heard =
  { kind: 'event'; event: WireEvent } | { kind: 'reset' } | { kind: 'lost' } | { kind: 'gone'; why?: string } | { kind: 'back' };

/** What came of loading older messages. */
export interface OlderLoaded {
  /** How many messages were put before those that the view had. */
  added: number;
  hasMore: boolean;
  /** The view holds as many messages as it may: older ones have to be read with `get_messages`. */
  full: boolean;
}

export interface AttachedSession extends AsyncIterable<Heard> {
  readonly sessionId: string;
  /** The session as of the last thing heard. It holds a bounded number of messages, the newest; `pathCount` says how many there are. */
  view(): SessionView;
  /**
   * Loads the messages before the first one of the view into it, at most `limit` of them, with no gap and no duplicate, whatever happens
   * meanwhile. Asked again while it is under way, it is the same loading. Rejects with AttachRefused when the session is gone.
   */
  loadOlder(limit?: number): Promise<OlderLoaded>;
  /**
   * Sends an input to this session. It is on disk, in the outbox, until a daemon has taken it, so it goes out once, in order and by itself,
   * also when no daemon is there now or this program is killed. Resolves when the input is committed or returned, or when it is clear that it
   * has to be kept for a while. Rejects with OutboxFull.
   */
  send(command: SentInput['command'], input: NewInput): Promise<SentInput>;
  /** What was sent from here, and what other processes that have ended left in the outbox, with what became of it. */
  sent(): readonly SentInput[];
  /** A returned input was shown to its person: it is forgotten. */
  dismiss(inputId: string): void;
  /** Resolves when nothing is being sent: what is still kept then waits for a daemon. */
  flushed(): Promise<void>;
  close(): void;
}

interface Deps {
  transport: Transport;
  /** Connects again if the connection is lost, and says hello again, so that a person can still be asked through this client. */
  connected(): Promise<void>;
  /** Reads a consistent snapshot. */
  snapshot(): Promise<Snapshot & { log_id: string }>;
  /** Reads a page of messages. */
  readPage(page: PageBefore & { limit: number }): Promise<MessagePage>;
  clientId(): string | undefined;
  openDelivery(sessionId: string, logId: () => string): Delivery;
  /** Starts the daemon again; absent for clients that start none. */
  revive?: (() => Promise<void>) | undefined;
}

/**
 * A session kept in view: a snapshot, then every event after it, with no gap and no duplicate. When the daemon goes away it
 * waits for it to come back and goes on at its cursor; when the cursor is too old it reads a new snapshot. A daemon that died is
 * started again, a few times at most; one that said goodbye was stopped by somebody, and is not.
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
      // The view began elsewhere by now: its session went on from another message, or it let go of its oldest ones.
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

  /** One connection's worth of events. True when the view must be read anew. */
  async function* listen(): AsyncGenerator<Heard, boolean> {
    stream = await openEventStream(transport, { sessionId: view.state.id, after: view.seq, logId, clientId: clientId() });
    // It was closed while the stream was being opened.
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

  /** True when listening ended because the view must be read anew. */
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

  /** True when the daemon was started again; otherwise why it was not, if it was tried. */
  async function tryRevive(): Promise<true | { why?: string }> {
    if (!revive || wasStopped || revivesLeft === 0) return {};
    revivesLeft--;
    try {
      await revive();
      return true;
    } catch (error) {
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
    let listeningSince = performance.now();
    while (!isOver()) {
      let nobody = false;
      try {
        await connected();
        wasStopped = false;
        delivery.flush();
        listeningSince = performance.now();
        if (lost) yield { kind: 'back' };
        lost = false;
        gone = false;
        waitMs = limits.attachRetryMinMs;
        if (yield* listenOrExpire()) {
          await reset();
          yield { kind: 'reset' };
          continue;
        }
      } catch (error) {
        if (![NoDaemon, ConnectionLost, DaemonUnresponsive].some((kind) => error instanceof kind)) throw error;
        nobody = error instanceof NoDaemon;
      }
      if (isOver()) return;
      if (!lost && performance.now() - listeningSince > limits.reviveAgainMs) revivesLeft = limits.reviveAttemptsMax;
      if (!lost) yield { kind: 'lost' };
      lost = true;
      if (nobody && !gone) {
        const revived = await tryRevive();
        if (revived === true) continue;
        yield { kind: 'gone', ...revived };
        gone = true;
      }
      await waitUnlessClosed(waitMs);
      waitMs = Math.min(2 * waitMs, limits.attachRetryMaxMs);
    }
  }

  async function waitUnlessClosed(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: closing.signal }).catch((error: unknown) => {
      if (!closing.signal.aborted) throw error;
    });
    // Timers come before what has arrived is read: the end of the other connection may be in it.
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
