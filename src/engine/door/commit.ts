import { statSync } from 'node:fs';
import type { Decision, Fresh } from '../../core/decision.js';
import { emptySession, evolve, type SessionState } from '../../core/session.js';
import { refusal, type Refusal } from '../../protocol/errors.js';
import type { DurableEvent } from '../../protocol/events.js';
import { noSession } from '../../protocol/ids.js';
import { limits } from '../../protocol/limits.js';
import { classifyFault, StoreDisplaced, StoreRefused, type TransientFault, type StoreFault } from '../../store/faults.js';
import type { Store, StoreWriters } from '../../store/store.js';
import type { FaultPoint } from './fault-points.js';

/** What became of a decision: committed at `seq`, or refused with nothing changed. */
export type Outcome<Reply> = { ok: true; seq: number; reply: Reply } | { ok: false; refusal: Refusal; fault?: StoreFault };

export type Decide<Reply> = (state: SessionState, fresh: Fresh) => Decision<Reply>;

export interface Commit {
  /** The only way state changes: load, decide, append, project in one transaction, then wake. Never awaits. */
  decide<Reply>(sessionId: string, decide: Decide<Reply>): Outcome<Reply>;
  /** `decide` for a session that does not exist yet. */
  create<Reply>(sessionId: string, decide: Decide<Reply>): Outcome<Reply>;
  /** `decide` for daemon-wide events, without a session. */
  decideShared<Reply>(decide: (fresh: Fresh) => Decision<Reply>): Outcome<Reply>;
}

/** The writers of rows that no decision reads: the daemon's own records beside the log. */
export type BookkeepingRows = Pick<StoreWriters, 'anchors' | 'artifacts' | 'partials' | 'processes' | 'search' | 'sweep' | 'todos'> & {
  log: Pick<StoreWriters['log'], 'prune' | 'setId'>;
  runs: Pick<StoreWriters['runs'], 'adopt'>;
};

/** Transactions that append no event. Not for commands of clients: those are decided. */
export interface Bookkeeping {
  /** Throws StoreRefused when the disk is full or the database is locked. */
  maintain(work: (rows: BookkeepingRows) => void): void;
  /** `maintain` for work that is retried later: false when the disk is full or the database is locked. */
  tryMaintain(work: (rows: BookkeepingRows) => void): boolean;
  /** `maintain` for callers that report the fault: undefined when the work was committed. */
  attemptMaintain(work: (rows: BookkeepingRows) => void): TransientFault | undefined;
}

/** Whether the files of the state directory are still those that this daemon has open. */
export interface StatePlace {
  holdsLock(): boolean;
  holdsDatabase(): boolean;
}

interface Deps {
  store: Store;
  place: StatePlace;
  fresh(): Fresh;
  /** The events of a commit, before any session is woken. */
  onCommitted(events: readonly DurableEvent[]): void;
  wake(sessionId: string): void;
  /** A session was deleted; its rows may be swept. */
  onDeleted(): void;
  /** Permission rules or trust have changed, perhaps for every session. */
  onRules(): void;
  fault(point: FaultPoint): void;
  /** A fatal fault of the store, as a failed fsync or StoreDisplaced. Does not return. */
  onFatal(error: unknown): never;
}

/** Messages for transient faults: cause and remedy. */
const faultMessages: Record<TransientFault, string> = {
  storage_full: 'the disk that holds the store is full; free some space and try again',
  store_busy: 'another program holds a lock on the database (SQLITE_BUSY); try again',
};

export function createCommit({ store, place, fresh, onCommitted, wake, onDeleted, onRules, fault, onFatal }: Deps): Commit & Bookkeeping {
  const { db, log, write } = store;
  let waitsForLock = true;
  /** Commits since the last WAL checkpoint. */
  let commits = 0;
  let checkpointing = false;
  /** Cache of the session that was committed last. It cannot be stale: only commits change what decisions read. */
  let cachedState: SessionState | undefined;

  const transact = db.transaction(<Reply>(state: SessionState | undefined, sessionId: string, decide: Decide<Reply>) => {
    const now = fresh();
    const current = state ?? (cachedState?.id === sessionId ? cachedState : store.load(sessionId));
    if (!current) return { refusal: refusal('session_not_found', `there is no session ${sessionId}`, { field: 'session_id' }) };
    const decision = decide(current, now);
    if (!decision.ok) return { refusal: decision.refusal };
    const events: DurableEvent[] = [];
    // One at a time: the rows that an event refers to must exist before the payload of the next one is reduced to references.
    for (const fact of decision.facts) {
      const event = write.log.append(fact, log.head() + events.length + 1, now.nowMs);
      write.project(event, now.nowMs);
      events.push(event);
    }
    if (decision.activate !== undefined) write.meta.set('active_session', decision.activate);
    if (decision.usesFirstSettings) write.meta.remove('first_session');
    if (decision.anchor) write.anchors.set(sessionId, decision.anchor);
    if (decision.admit) write.inputs.admit(sessionId, decision.admit, events.at(-1)?.seq ?? log.head(), now.nowMs);
    if (decision.draft) write.drafts.set(sessionId, decision.draft, now.nowMs);
    if (decision.namedCursor) write.namedCursors.set(decision.namedCursor, now.nowMs);
    if (decision.audit) write.audit.add(decision.audit, sessionId, now.nowMs);
    if (decision.firstSettings !== undefined) write.meta.set('first_session', decision.firstSettings);
    verifyLock();
    fault('commit.inside');
    return { events, reply: decision.reply, next: events.reduce<SessionState>(evolve, current) };
  });

  /**
   * To be called inside a transaction: whoever locks a new lock file commits after it, and this process never after that. A fence against
   * two daemons.
   */
  function verifyLock(): void {
    if (!place.holdsLock()) throw new StoreDisplaced('berth.lock was removed or replaced');
  }

  /** To be called after COMMIT and before anything is acknowledged: what is in an unlinked file is lost with the process. */
  function verifyDatabase(): void {
    if (!place.holdsDatabase()) throw new StoreDisplaced(`${db.name} was removed or replaced`);
  }

  /** Waiting for a database lock blocks the only thread, so it is done once: busy_timeout is 0 until the lock was free again. */
  function setLockWait(wait: boolean): void {
    if (waitsForLock === wait) return;
    waitsForLock = wait;
    db.pragma(`busy_timeout = ${wait ? limits.busyTimeoutMs : 0}`);
  }

  function withFaults<T>(work: () => T): { done: T } | { fault: TransientFault } {
    try {
      const done = work();
      verifyDatabase();
      setLockWait(true);
      checkpointGrownWal();
      return { done };
    } catch (error) {
      cachedState = undefined;
      if (error instanceof StoreDisplaced) return onFatal(error);
      const fault = classifyFault(error);
      if (fault === 'fatal') return onFatal(error);
      if (fault === undefined) throw error;
      setLockWait(fault !== 'store_busy');
      return { fault };
    }
  }

  /**
   * Checkpoints a WAL that has grown, between two turns of the event loop. RESTART keeps the file, because fsync of an existing file takes
   * half the time of fsync of a growing one; TRUNCATE is for a WAL that a reader kept from being checkpointed.
   */
  function checkpointGrownWal(): void {
    if (++commits % limits.walUnseenMax !== 0 || checkpointing) return;
    const bytes = statSync(`${db.name}-wal`, { throwIfNoEntry: false })?.size ?? 0;
    const isTooLong = bytes >= limits.walFileBytesMax;
    if (!isTooLong && (bytes < limits.walBytesMax || commits < limits.walCommitsMax)) return;
    checkpointing = true;
    setImmediate(() => {
      checkpointing = false;
      // Another program that reads the store is not waited for: a checkpoint is tried again.
      if (db.open) setLockWait(false);
      if (db.open) withFaults(() => db.pragma(`wal_checkpoint(${isTooLong ? 'TRUNCATE' : 'RESTART'})`));
      commits = 0;
    });
  }

  function run<Reply>(state: SessionState | undefined, sessionId: string, decide: Decide<Reply>): Outcome<Reply> {
    const result = withFaults(() => transact.immediate(state, sessionId, decide as Decide<unknown>));
    if ('fault' in result) {
      return { ok: false, refusal: refusal(result.fault, faultMessages[result.fault]), fault: result.fault };
    }
    const { done } = result;
    if (!done.next) return { ok: false, refusal: done.refusal };
    cachedState = done.next.deleted || sessionId === noSession ? undefined : done.next;
    if (done.events.length > 0) {
      fault('commit.done');
      write.log.committed(done.events.at(-1)?.seq ?? log.head());
      onCommitted(done.events);
      // After COMMIT only. A wake lost to a crash costs a delay, never a fact: boot wakes every session.
      for (const woken of new Set(done.events.map(({ payload }) => payload.session_id))) wake(woken);
      if (done.events.some((event) => event.type === 'session_update' && event.payload.deleted)) onDeleted();
      if (done.events.some(({ type }) => type === 'rule_update' || type === 'trust_update')) onRules();
    }
    return { ok: true, seq: log.head(), reply: done.reply as Reply };
  }

  function attemptMaintain(work: (rows: BookkeepingRows) => void): TransientFault | undefined {
    const maintainRows = (): void => {
      work(write);
      verifyLock();
    };
    const result = withFaults(() => db.transaction(maintainRows).immediate());
    return 'fault' in result ? result.fault : undefined;
  }

  return {
    decide: (sessionId, decide) => run(undefined, sessionId, decide),
    create: (sessionId, decide) => run(emptySession(sessionId), sessionId, decide),
    decideShared: (decide) => run(emptySession(noSession), noSession, (_state, now) => decide(now)),
    maintain(work) {
      const failed = attemptMaintain(work);
      if (failed) throw new StoreRefused(faultMessages[failed]);
    },
    tryMaintain: (work) => attemptMaintain(work) === undefined,
    attemptMaintain,
  };
}
