import { statSync } from 'node:fs';
import type { Decision, Fresh } from '../../core/decision.js';
import { emptySession, evolve, type SessionState } from '../../core/session.js';
import { refusal, type Refusal } from '../../protocol/errors.js';
import { noSession, type DurableEvent } from '../../protocol/events.js';
import { limits } from '../../protocol/limits.js';
import { classifyFault, StoreRefused, type PassingFault, type StoreFault } from '../../store/faults.js';
import type { Store, StoreWriters } from '../../store/store.js';
import type { FaultPoint } from './fault-points.js';

/** What became of a decision: committed at `seq`, or refused with nothing changed. */
export type Outcome<Reply> = { ok: true; seq: number; reply: Reply } | { ok: false; refusal: Refusal; fault?: StoreFault };

export type Decide<Reply> = (state: SessionState, fresh: Fresh) => Decision<Reply>;

export interface Commit {
  /** The only way state changes: load, decide, append, project in one transaction, then wake. Never awaits. */
  decide<Reply>(sessionId: string, decide: Decide<Reply>): Outcome<Reply>;
  /** The same for a session that is about to be made. */
  create<Reply>(sessionId: string, decide: Decide<Reply>): Outcome<Reply>;
  /** The same for what is not of one session: it needs none to be there. */
  decideShared<Reply>(decide: (fresh: Fresh) => Decision<Reply>): Outcome<Reply>;
}

/** The rows that no decision looks at: what the daemon keeps for itself beside the log. */
export type BookkeepingRows = Pick<StoreWriters, 'anchors' | 'artifacts' | 'partials' | 'processes' | 'search' | 'sweep' | 'todos'> & {
  log: Pick<StoreWriters['log'], 'prune' | 'setId'>;
  runs: Pick<StoreWriters['runs'], 'adopt'>;
};

/** Writes what is no fact. Not for commands of clients: those are decided. */
export interface Bookkeeping {
  /** Throws StoreRefused when the store has no room or is busy: what was not written cannot go unnoticed. */
  maintain(work: (rows: BookkeepingRows) => void): void;
  /** The same for work that is done again later, or tells its caller: false when the store does not take it now. */
  tryMaintain(work: (rows: BookkeepingRows) => void): boolean;
  /** The same for whoever tells why: the fault when the store does not take it now. */
  attemptMaintain(work: (rows: BookkeepingRows) => void): PassingFault | undefined;
}

interface Deps {
  store: Store;
  fresh(): Fresh;
  /** What was just committed. Nobody was woken for it yet. */
  onCommitted(events: readonly DurableEvent[]): void;
  wake(sessionId: string): void;
  /** A session's rows may be swept now. */
  onDeleted(): void;
  /** Rules or trust have changed, perhaps for every session. */
  onRules(): void;
  fault(point: FaultPoint): void;
  /** The store cannot be trusted any more. Does not return. */
  onFatal(error: unknown): never;
}

/** What a fault that passes means, and what to do about it. */
const faultWords: Record<PassingFault, string> = {
  storage_full: 'the disk that holds the store is full; free some space and try again',
  store_busy: 'another program holds the store; try again',
};

export function createCommit({ store, fresh, onCommitted, wake, onDeleted, onRules, fault, onFatal }: Deps): Commit & Bookkeeping {
  const { db, log, write } = store;
  let waitsForLock = true;
  /** Since the WAL was last moved into the database. */
  let commits = 0;
  let checkpointing = false;
  /** What the last commit made of its session: the next decision on it loads nothing. Only commits change what decisions look at. */
  let latest: SessionState | undefined;

  const transact = db.transaction(<Reply>(state: SessionState | undefined, sessionId: string, decide: Decide<Reply>) => {
    const now = fresh();
    const current = state ?? (latest?.id === sessionId ? latest : store.load(sessionId));
    if (!current) return { refusal: refusal('session_not_found', `there is no session ${sessionId}`, { field: 'session_id' }) };
    const decision = decide(current, now);
    if (!decision.ok) return { refusal: decision.refusal };
    const events: DurableEvent[] = [];
    // One at a time: what an event refers to is in the rows before the next one is slimmed.
    for (const fact of decision.facts) {
      const event = write.log.append(fact, log.head() + events.length + 1, now.nowMs);
      write.project(event, now.nowMs);
      events.push(event);
    }
    if (decision.activate !== undefined) write.meta.set('active_session', decision.activate);
    if (decision.usesFirstSettings) write.meta.remove('first_session');
    if (decision.admit) write.inputs.admit(sessionId, decision.admit, events.at(-1)?.seq ?? log.head(), now.nowMs);
    if (decision.audit) write.audit.add(decision.audit, sessionId, now.nowMs);
    if (decision.firstSettings !== undefined) write.meta.set('first_session', decision.firstSettings);
    fault('commit.inside');
    return { events, reply: decision.reply, next: events.reduce<SessionState>(evolve, current) };
  });

  /** A lock that somebody holds freezes the only thread once, not once a command: until it is free, nobody waits for it. */
  function setLockWait(wait: boolean): void {
    if (waitsForLock === wait) return;
    waitsForLock = wait;
    db.pragma(`busy_timeout = ${wait ? limits.busyTimeoutMs : 0}`);
  }

  function guarded<T>(work: () => T): { done: T } | { fault: PassingFault } {
    try {
      const done = work();
      setLockWait(true);
      noteGrowth();
      return { done };
    } catch (error) {
      latest = undefined;
      const fault = classifyFault(error);
      if (fault === 'fatal') return onFatal(error);
      if (fault === undefined) throw error;
      setLockWait(fault !== 'store_busy');
      return { fault };
    }
  }

  /**
   * Moves the WAL into the database once it has grown, between two turns of the loop. The file stays and is written again from its start,
   * because syncing what is there takes half the time of syncing a file that grows; one that somebody kept from being moved is cut.
   */
  function noteGrowth(): void {
    if (++commits % limits.walUnseenMax !== 0 || checkpointing) return;
    const bytes = statSync(`${db.name}-wal`, { throwIfNoEntry: false })?.size ?? 0;
    const isTooLong = bytes >= limits.walFileBytesMax;
    if (!isTooLong && (bytes < limits.walBytesMax || commits < limits.walCommitsMax)) return;
    checkpointing = true;
    setImmediate(() => {
      checkpointing = false;
      if (db.open) guarded(() => db.pragma(`wal_checkpoint(${isTooLong ? 'TRUNCATE' : 'RESTART'})`));
      commits = 0;
    });
  }

  function run<Reply>(state: SessionState | undefined, sessionId: string, decide: Decide<Reply>): Outcome<Reply> {
    const result = guarded(() => transact.immediate(state, sessionId, decide as Decide<unknown>));
    if ('fault' in result) {
      return { ok: false, refusal: refusal(result.fault, faultWords[result.fault]), fault: result.fault };
    }
    const { done } = result;
    if (!done.next) return { ok: false, refusal: done.refusal };
    latest = done.next.deleted || sessionId === noSession ? undefined : done.next;
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

  function attemptMaintain(work: (rows: BookkeepingRows) => void): PassingFault | undefined {
    const result = guarded(() => db.transaction(() => work(write)).immediate());
    return 'fault' in result ? result.fault : undefined;
  }

  return {
    decide: (sessionId, decide) => run(undefined, sessionId, decide),
    create: (sessionId, decide) => run(emptySession(sessionId), sessionId, decide),
    decideShared: (decide) => run(emptySession(noSession), noSession, (_state, now) => decide(now)),
    maintain(work) {
      const failed = attemptMaintain(work);
      if (failed) throw new StoreRefused(faultWords[failed]);
    },
    tryMaintain: (work) => attemptMaintain(work) === undefined,
    attemptMaintain,
  };
}
