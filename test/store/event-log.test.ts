import { describe, expect, test } from 'vitest';
import { allSessions, type Scope } from '../../src/core/scope.js';
import { createSession } from '../../src/core/settings.js';
import type { DurableEvent } from '../../src/protocol/events.js';
import { limits } from '../../src/protocol/limits.js';
import { createTestEngine, type TestEngine } from '../support/engine.js';

const dayMs = 24 * 3600 * 1000;

/** Puts rows into the log as if they had been told long ago. */
function seed(berth: TestEngine, sessionId: string, count: number, atMs: number, runId: string | null = null): void {
  const insert = berth.store.db.prepare(
    `INSERT INTO event (session_id, run_id, type, version, payload, at_ms) VALUES (?, ?, 'warning', 1, ?, ?)`,
  );
  const payload = JSON.stringify({ session_id: sessionId, code: 'x', message: 'y' });
  berth.store.db.transaction(() => {
    for (let i = 0; i < count; i++) insert.run(sessionId, runId, payload, atMs);
  })();
}

function seqs(berth: TestEngine): number[] {
  return berth.store.db.prepare<[], number>('SELECT seq FROM event ORDER BY seq').pluck().all();
}

/** One step of pruning, as housekeeping does it. */
function prune(berth: TestEngine): boolean {
  let more = false;
  expect(berth.engine.bookkeeping.tryMaintain(({ log }) => (more = log.prune(berth.clock.nowMs)))).toBe(true);
  return more;
}

function readAll(berth: TestEngine, scope: Scope, after = 0): number[] {
  return [...berth.store.log.after(scope, after, Number.MAX_SAFE_INTEGER)].map(({ seq }) => seq);
}

describe('a position in the log', () => {
  test('is not used up by a commit that failed', async () => {
    await using berth = createTestEngine();
    const session = berth.session();
    const before = berth.store.log.head();
    expect(berth.submit(session, 'steer', 'x').ok).toBe(false);
    expect(() =>
      berth.engine.commit.decide(session, () => {
        throw new Error('a bug');
      }),
    ).toThrow('a bug');
    expect(berth.store.log.head()).toBe(before);
    berth.change(session, { title: 'a' });
    expect(seqs(berth).at(-1)).toBe(berth.store.log.head());
  });

  test('that is told is in the store: a commit that cannot be made leaves no trace', async () => {
    await using berth = createTestEngine();
    const session = berth.session();
    const before = { seqs: seqs(berth), state: berth.store.load(session) };
    // The second fact breaks a promise that the schema keeps.
    expect(() =>
      berth.engine.commit.decide(session, (state) => ({
        ok: true,
        reply: undefined,
        facts: [
          { type: 'session_update', payload: { session_id: state.id, title: 'half' } },
          { type: 'agent_end', payload: { session_id: state.id, run_id: 'run_none', outcome: 'completed', error: null, usage: null } },
        ],
      })),
    ).toThrow('a run ends once');
    expect({ seqs: seqs(berth), state: berth.store.load(session) }).toEqual(before);
    expect(readAll(berth, { sessionId: session })).toEqual(before.seqs);
  });
});

test('rows of the log are added and never changed', async () => {
  await using berth = createTestEngine();
  berth.store.db.exec(`CREATE TEMP TRIGGER no_change BEFORE UPDATE ON event BEGIN SELECT RAISE(ABORT, 'changed'); END;
    CREATE TEMP TRIGGER no_loss BEFORE DELETE ON event BEGIN SELECT RAISE(ABORT, 'deleted'); END;
    CREATE TEMP TRIGGER no_rewrite BEFORE UPDATE ON entry BEGIN SELECT RAISE(ABORT, 'rewritten'); END;`);
  const session = berth.session();
  berth.prompt(session);
  const call = await berth.model.next();
  berth.submit(session, 'follow_up', 'f');
  call.say('x').call('none').end();
  (await berth.model.next()).say('y').end();
  (await berth.model.next()).fail('no');
  await berth.idle(session);
  expect(berth.told(session).at(-1)).toBe('agent_end failed');
});

describe('reading after a position', () => {
  test('gives everything once, in order, of one session or of all, and no more rows than asked for', async () => {
    await using berth = createTestEngine();
    const [a, b] = [berth.session(), berth.session()];
    for (let i = 0; i < 20; i++) berth.change(i % 3 === 0 ? a : b, { title: `${i}` });
    const all = seqs(berth);
    expect(readAll(berth, allSessions)).toEqual(all);
    expect(readAll(berth, allSessions, 9)).toEqual(all.filter((seq) => seq > 9));
    expect([...readAll(berth, { sessionId: a }), ...readAll(berth, { sessionId: b })].toSorted((x, y) => x - y)).toEqual(all);
    expect(readAll(berth, { sessionId: a }, berth.store.log.head())).toEqual([]);
    expect([...berth.store.log.after(allSessions, 3, 5)].map(({ seq }) => seq)).toEqual(all.filter((seq) => seq > 3).slice(0, 5));
  });

  test('gives what was committed, word for word', async () => {
    await using berth = createTestEngine();
    const committed: DurableEvent[] = [];
    berth.engine.onCommitted((events) => committed.push(...events));
    const session = berth.session();
    berth.prompt(session, 'ahoy');
    (await berth.model.next()).say('aye').end();
    await berth.idle(session);
    expect([...berth.store.log.after(allSessions, 0, 1_000)].map((logged) => logged.read())).toEqual(committed);
    expect(committed.map(({ seq }) => berth.store.log.at(seq))).toEqual(committed);
  });
});

describe('pruning', () => {
  test('takes what is too old and says below where cursors have expired', async () => {
    await using berth = createTestEngine();
    const session = berth.session();
    berth.store.db.prepare('DELETE FROM event').run();
    seed(berth, session, 100, berth.clock.nowMs - 31 * dayMs);
    seed(berth, session, 50, berth.clock.nowMs - 29 * dayMs);
    const kept = seqs(berth).slice(100);
    await using after = berth.crash();
    expect(after.store.log.floor()).toBe(0);
    while (prune(after));
    expect(seqs(after)).toEqual(kept);
    expect(after.store.log.floor()).toBe((kept[0] ?? 0) - 1);
    expect(prune(after)).toBe(false);
  });

  test('has the floor above all that is gone after every batch, not only the last', async () => {
    await using berth = createTestEngine();
    const session = berth.session();
    seed(berth, session, limits.pruneBatchRows + 500, berth.clock.nowMs - 31 * dayMs);
    await using after = berth.crash();
    const before = seqs(after);
    for (let more = true; more;) {
      more = prune(after);
      const left = new Set(seqs(after));
      const lastGone = before.filter((seq) => !left.has(seq)).at(-1) ?? 0;
      expect(after.store.log.floor()).toBeGreaterThanOrEqual(lastGone);
    }
  });

  test('takes what is too much', async () => {
    await using berth = createTestEngine();
    const session = berth.session();
    const db = berth.store.db;
    berth.change(session, { title: 'older' });
    // A log that has grown long: the newest row stands far from the oldest.
    db.prepare('UPDATE event SET seq = ? WHERE seq = (SELECT max(seq) FROM event)').run(limits.logEventsMax + 10);
    await using after = berth.crash();
    after.change(session, { title: 'newest' });
    while (prune(after));
    expect(seqs(after)).toEqual([limits.logEventsMax + 10, limits.logEventsMax + 11]);
    expect(after.store.log.floor()).toBe(11);
  });

  test('of everything, the newest event too, gives no position twice', async () => {
    await using berth = createTestEngine();
    const session = berth.session();
    const newest = berth.store.log.head();
    berth.clock.nowMs += 31 * dayMs;
    while (prune(berth));
    expect(seqs(berth)).toEqual([]);
    await using after = berth.crash();
    expect(after.store.log.head()).toBe(newest);
    after.change(session, { title: 'later' });
    expect(seqs(after)).toEqual([newest + 1]);
  });

  test('never takes events of a run in progress, and takes them once it is over', async () => {
    await using berth = createTestEngine();
    const session = berth.session();
    const run = berth.prompt(session);
    const call = await berth.model.next();
    const ofRun = (): number[] => berth.store.log.ofRun(run, berth.store.log.head(), 1_000).map(({ seq }) => seq);
    const before = ofRun();
    expect(before.length).toBeGreaterThan(3);
    berth.clock.nowMs += 40 * dayMs;
    berth.change(session, { title: 'later' });
    while (prune(berth));
    expect(ofRun()).toEqual(before);
    expect(seqs(berth)).not.toContain(1);
    call.say('done').end();
    await berth.idle(session);
    berth.clock.nowMs += 40 * dayMs;
    berth.change(session, { title: 'later still' });
    while (prune(berth));
    expect(ofRun()).toEqual([]);
  });

  test('leaves entries, inputs and runs alone', async () => {
    await using berth = createTestEngine();
    const session = berth.session();
    berth.prompt(session, 'kept');
    (await berth.model.next()).say('kept too').end();
    await berth.idle(session);
    const before = berth.store.load(session);
    berth.clock.nowMs += 40 * dayMs;
    while (prune(berth));
    expect(berth.history(session)).toEqual(['user: kept', 'assistant: kept too']);
    expect(berth.store.load(session)).toEqual(before);
  });

  test('is not misled by a clock that was wrong for a moment', async () => {
    await using berth = createTestEngine();
    const session = berth.session();
    for (let i = 0; i < 5; i++) berth.change(session, { title: `${i}` });
    const young = seqs(berth);
    const now = berth.clock.nowMs;
    berth.clock.nowMs = 0;
    berth.change(session, { title: 'in 1970' });
    berth.clock.nowMs = now;
    berth.change(session, { title: 'today' });
    while (prune(berth));
    for (const seq of young) expect(seqs(berth)).toContain(seq);
  });

  test('happens by itself when a daemon starts', async () => {
    await using berth = createTestEngine();
    const session = berth.session();
    berth.store.db.prepare('DELETE FROM event').run();
    seed(berth, session, 10, berth.clock.nowMs - 31 * dayMs);
    await using after = berth.crash();
    after.engine.recover();
    while (after.store.log.floor() === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(seqs(after)).toEqual([]);
  });
});

test('order is by position, not by time, when the clock goes back', async () => {
  await using berth = createTestEngine();
  const session = berth.session();
  for (const text of ['first', 'second']) {
    berth.prompt(session, text);
    (await berth.model.next()).say(`re ${text}`).end();
    await berth.idle(session);
    berth.clock.nowMs -= dayMs;
  }
  expect(berth.history(session)).toEqual(['user: first', 'assistant: re first', 'user: second', 'assistant: re second']);
  expect(berth.store.runs.page(session, undefined, 10).runs.map(({ started_at }) => started_at)).toEqual([
    new Date(berth.clock.nowMs + dayMs).toISOString(),
    new Date(berth.clock.nowMs + 2 * dayMs).toISOString(),
  ]);
  // A session that was used later is listed first, whatever the clock says.
  const other = berth.session();
  berth.change(session, { title: 'used last' });
  expect(
    berth.store.sessions.list({ cwd: undefined, query: undefined, archived: false, cursor: undefined, limit: 10 }).sessions[0]?.session_id,
  ).toBe(session);
  expect(other).not.toBe(session);
});

test('a session that is made says everything about itself in its first event', async () => {
  await using berth = createTestEngine();
  const made = berth.engine.commit.create('ses_x', () => createSession('ses_x', { title: 'x', cwd: '/', model: 'scripted/model' }));
  expect(made.ok).toBe(true);
  expect(berth.events('ses_x')).toMatchObject([{ type: 'session_update', payload: { created: true, title: 'x', cwd: '/' } }]);
});
