import { limits } from '../protocol/limits.js';

interface UnreadRepliesSetup {
  /** Of all connections together. */
  sharedBytesMax: number;
  /** What a connection may leave unread without being counted. */
  freeBytes: number;
  /** How long a peer may read nothing while others wait for room. */
  stalledMs: number;
  /** A connection was closed to make room for others. */
  onDropped(dropped: { unreadBytes: number }): void;
}

interface AccountEvents {
  /** There is room for one reply; called once after `hasRoom` was false. */
  onRoom(): void;
  /** Others wait for room and this peer does not read: its connection has to be closed. */
  onStalled(): void;
}

/** The place of one connection in the budget. */
export interface ReplyAccount {
  /** True when a reply may be built now. Otherwise the connection is queued, and `onRoom` is called in its turn. */
  hasRoom(): boolean;
  /** Says how many bytes the peer has left to read. Fewer than before mean that it reads. */
  owes(bytes: number): void;
  /** The connection is closed. */
  leave(): void;
}

/**
 * One budget for the replies that clients have not read. While it is used up, further replies are not built. Room is made by
 * peers that read; if others wait, the peer that has read nothing for longest is dropped once that is `stalledMs` ago.
 */
export function createUnreadReplies({
  sharedBytesMax = limits.unreadRepliesBytesMax,
  freeBytes = limits.unreadReplyFreeBytes,
  stalledMs = limits.unreadReplyMs,
  onDropped = () => undefined,
}: Partial<UnreadRepliesSetup> = {}) {
  interface Account extends AccountEvents {
    held: number;
    /** When the peer last read something, or began to owe. */
    readAt: number;
    /** The peer has read a long reply to its end before. */
    hasRead: boolean;
    /** It is its turn: it goes before those that wait. */
    granted: boolean;
  }
  /** The peer that has read nothing for longest comes first. */
  const debtors = new Set<Account>();
  const waiting = new Set<Account>();
  let used = 0;
  let granting = false;
  let isNewestNext = false;
  let timer: NodeJS.Timeout | undefined;

  function count(account: Account, bytes: number): void {
    const counted = bytes > freeBytes ? bytes : 0;
    const reads = counted < account.held;
    used += counted - account.held;
    account.held = counted;
    if (counted === 0) debtors.delete(account);
    else if (reads || !debtors.has(account)) {
      account.readAt = performance.now();
      debtors.delete(account);
      debtors.add(account);
    }
    serveWaiting();
  }

  /** One reply a turn of the event loop: building one takes time, and decides whether there is room for the next. */
  function serveWaiting(): void {
    if (waiting.size === 0 || granting) return;
    if (used >= sharedBytesMax) return watchOldest();
    granting = true;
    setImmediate(() => {
      granting = false;
      const next = nextWaiting();
      if (next && used < sharedBytesMax) {
        waiting.delete(next);
        next.granted = true;
        next.onRoom();
        next.granted = false;
      }
      serveWaiting();
    });
  }

  /**
   * Peers that are known to read come first. Of the others the oldest and the newest take turns: many that turn out not to read
   * cannot keep out somebody who comes after them.
   */
  function nextWaiting(): Account | undefined {
    const all = [...waiting];
    const known = all.find(({ hasRead }) => hasRead);
    if (known) return known;
    isNewestNext = !isNewestNext;
    return isNewestNext ? all.at(-1) : all[0];
  }

  function watchOldest(): void {
    const [oldest] = debtors;
    if (!oldest || timer) return;
    timer = setTimeout(dropStalled, Math.max(0, oldest.readAt + stalledMs - performance.now()));
    timer.unref();
  }

  function dropStalled(): void {
    timer = undefined;
    const [oldest] = debtors;
    const isStalled = oldest && waiting.size > 0 && used >= sharedBytesMax && performance.now() >= oldest.readAt + stalledMs;
    if (isStalled) {
      onDropped({ unreadBytes: oldest.held });
      count(oldest, 0);
      oldest.onStalled();
    }
    serveWaiting();
  }

  return {
    unreadBytes: (): number => used,
    join(events: AccountEvents): ReplyAccount {
      const account: Account = { ...events, held: 0, readAt: 0, hasRead: false, granted: false };
      return {
        hasRoom() {
          const fits = account.granted || (used < sharedBytesMax && waiting.size === 0);
          account.granted = false;
          if (fits) return true;
          waiting.add(account);
          serveWaiting();
          return false;
        },
        owes(bytes) {
          const owed = account.held;
          count(account, bytes);
          if (owed > 0 && account.held === 0) account.hasRead = true;
        },
        leave() {
          waiting.delete(account);
          count(account, 0);
        },
      };
    },
  };
}
export type UnreadReplies = ReturnType<typeof createUnreadReplies>;
