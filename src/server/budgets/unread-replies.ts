import { limits } from '../../protocol/limits.js';

interface UnreadRepliesSetup {
  /** Budget of all connections together. */
  sharedBytesMax: number;
  /** Unread bytes of each connection that are not counted. */
  freeBytes: number;
  /** Timeout of a peer that reads nothing while others wait for room. */
  stalledMs: number;
  /** A connection was closed to make room for others. */
  onDropped(dropped: { unreadBytes: number }): void;
}

interface AccountEvents {
  /** The budget has room for one reply; called once after `hasRoom` was false. */
  onRoom(): void;
  /** The peer does not read and others wait for room: the connection must be closed. */
  onStalled(): void;
}

/** The share of one connection in the budget. */
export interface ReplyAccount {
  /** True when a reply may be built now. Otherwise the connection is queued, and `onRoom` is called later. */
  hasRoom(): boolean;
  /** Updates the unread bytes of the connection. Fewer than before mean that the peer reads. */
  owes(bytes: number): void;
  /** The connection is closed. */
  leave(): void;
}

/**
 * Backpressure: one memory budget for the unread replies of all clients. While the budget is used up, further replies are not built. Peers
 * that read make room; if others wait, a peer that has read nothing for `stalledMs` is dropped, the longest stalled first.
 */
export function createUnreadReplies({
  sharedBytesMax = limits.unreadRepliesBytesMax,
  freeBytes = limits.unreadReplyFreeBytes,
  stalledMs = limits.unreadReplyMs,
  onDropped = () => undefined,
}: Partial<UnreadRepliesSetup> = {}) {
  interface Account extends AccountEvents {
    held: number;
    /** When the peer last read bytes, or got its first unread ones. */
    readAt: number;
    /** The peer has once read a long reply to its end. */
    hasRead: boolean;
    /** The account may build one reply before those that wait. */
    granted: boolean;
  }
  /** Accounts with unread bytes, the longest stalled first. */
  const debtors = new Set<Account>();
  const waiting = new Set<Account>();
  let used = 0;
  let granting = false;
  let serveNewest = false;
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

  /** Builds one reply in each turn of the event loop: it takes time, and its size decides whether there is room for the next. */
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
   * Peers that have read before come first. Of the others the oldest and the newest take turns, so that many stalled peers cannot starve
   * a new one.
   */
  function nextWaiting(): Account | undefined {
    const all = [...waiting];
    const reader = all.find(({ hasRead }) => hasRead);
    if (reader) return reader;
    serveNewest = !serveNewest;
    return serveNewest ? all.at(-1) : all[0];
  }

  function watchOldest(): void {
    const [oldest] = debtors;
    if (!oldest || timer) return;
    // Timers come before what peers have read meanwhile is noticed: a daemon that was held up itself looks at that first.
    timer = setTimeout(() => setImmediate(dropStalled), Math.max(0, oldest.readAt + stalledMs - performance.now()));
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
