import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { createSession } from '../../src/core/settings.js';
import type { Retention } from '../../src/engine/door/housekeeping.js';
import { limits } from '../../src/protocol/limits.js';
import { createTestEngine, type TestEngine } from '../support/engine.js';

const dayMs = 24 * 3600 * 1000;

function retain(change: Partial<Retention>): { retention: () => Retention } {
  const kept = { logAgeMs: 30 * dayMs, logEvents: 500_000, artifactBytes: 1_000, artifactAgeMs: null, archivedAgeMs: null, ...change };
  return { retention: () => kept };
}

/** Housekeeping, until it has nothing left to do. */
async function keptHouse(berth: TestEngine): Promise<void> {
  berth.engine.housekeeping.schedule();
  while (berth.engine.housekeeping.isBusy()) await new Promise((resolve) => setImmediate(resolve));
}

async function talk(berth: TestEngine, session: string, text: string): Promise<void> {
  berth.prompt(session, text);
  (await berth.model.next()).say(`re ${text}`).end();
  await berth.idle(session);
}

function sessions(berth: TestEngine): string[] {
  return berth.store.db.prepare<[], string>('SELECT id FROM session ORDER BY id').pluck().all();
}

describe('archived sessions', () => {
  test('are kept for ever unless somebody said for how long', async () => {
    await using berth = createTestEngine();
    const session = berth.session();
    await talk(berth, session, 'x');
    berth.change(session, { archived: true });
    berth.clock.nowMs += 10_000 * dayMs;
    await keptHouse(berth);
    expect(sessions(berth)).toEqual([session]);
  });

  test('are deleted when their time is over, and no others', async () => {
    await using berth = createTestEngine(retain({ archivedAgeMs: 90 * dayMs }));
    const [old, open, fresh, busy, queued] = [1, 2, 3, 4, 5].map(() => berth.session()) as [string, string, string, string, string];
    for (const session of [old, open, fresh, queued]) await talk(berth, session, 'x');
    berth.change(queued, { archived: true });
    berth.store.db
      .prepare(
        `INSERT INTO input (id, session_id, command, kind, state, position, bytes, ack_run_id, ack_seq, at_ms, first_text)
         VALUES ('inp_1', ?, 'follow_up', 'follow_up', 'waiting', 0, 5, 'run_1', 1, 0, 'later')`,
      )
      .run(queued);
    berth.prompt(busy, 'x');
    const call = await berth.model.next();
    for (const session of [old, busy]) berth.change(session, { archived: true });
    berth.clock.nowMs += 89 * dayMs;
    berth.change(fresh, { archived: true });
    await keptHouse(berth);
    expect(sessions(berth)).toHaveLength(5);
    berth.clock.nowMs += 2 * dayMs;
    await keptHouse(berth);
    expect(sessions(berth)).toEqual([open, fresh, busy, queued].toSorted());
    expect(berth.events(old).at(-1)).toMatchObject({ type: 'session_update', payload: { deleted: true } });
    call.say('y').end();
    await berth.idle(busy);
  });

  test('whose messages a branch uses leave them to the branch', async () => {
    await using berth = createTestEngine(retain({ archivedAgeMs: dayMs }));
    const parent = berth.session();
    await talk(berth, parent, 'shared');
    const branch = 'ses_branch';
    const leaf_id = berth.store.load(parent)?.leafId ?? null;
    berth.engine.commit.create(branch, () => createSession(branch, { cwd: '/', model: 'scripted/model', parent_id: parent, leaf_id }));
    berth.change(parent, { archived: true });
    berth.clock.nowMs += 2 * dayMs;
    await keptHouse(berth);
    expect(berth.store.load(parent)).toBeUndefined();
    expect(berth.history(branch)).toEqual(['user: shared', 'assistant: re shared']);
  });
});

describe('artifacts', () => {
  async function keep(berth: TestEngine, session: string, bytes: number): Promise<{ id: string; path: string }> {
    const artifacts = berth.engine.artifacts.of(session);
    const made = artifacts.begin();
    writeFileSync(made.path, 'x'.repeat(bytes));
    await artifacts.keep({ id: made.id, mimeType: 'text/plain', bytes });
    return made;
  }

  test('are dropped when they are too old, where somebody said so, and say that they were', async () => {
    await using berth = createTestEngine(retain({ artifactAgeMs: 7 * dayMs }));
    const session = berth.session();
    const old = await keep(berth, session, 100);
    berth.clock.nowMs += 6 * dayMs;
    const young = await keep(berth, session, 100);
    berth.clock.nowMs += 2 * dayMs;
    await keptHouse(berth);
    expect([old, young].map(({ path }) => existsSync(path))).toEqual([false, true]);
    expect(berth.engine.artifacts.read(old.id, 0, 10)).toMatchObject({ totalBytes: 0, droppedBytes: 100 });
    expect(berth.engine.artifacts.read(young.id, 0, 10)?.data.toString()).toBe('xxxxxxxxxx');
  });

  test('are dropped when a smaller bound is set, the oldest first', async () => {
    const { retention } = retain({});
    let artifactBytes = 1_000;
    await using berth = createTestEngine({ retention: () => ({ ...retention(), artifactBytes }) });
    const session = berth.session();
    const kept = [await keep(berth, session, 300), await keep(berth, session, 300), await keep(berth, session, 300)];
    artifactBytes = 600;
    await keptHouse(berth);
    expect(kept.map(({ path }) => existsSync(path))).toEqual([false, true, true]);
  });
});

describe('the log', () => {
  test('is kept for as long, and as long as, the config says', async () => {
    await using berth = createTestEngine(retain({ logAgeMs: 2 * dayMs, logEvents: 3 }));
    const session = berth.session();
    for (let i = 0; i < 9; i++) berth.change(session, { title: `${i}` });
    await keptHouse(berth);
    expect(berth.events(session).map(({ payload }) => (payload as { title?: string }).title)).toEqual(['6', '7', '8']);
    berth.clock.nowMs += 3 * dayMs;
    await keptHouse(berth);
    expect(berth.events(session)).toEqual([]);
    expect(berth.store.log.floor()).toBe(berth.store.log.head());
  });

  test('is looked at once a day while there is work, whatever the time zone and its clock changes', async () => {
    for (const zone of ['UTC', 'America/New_York', 'Pacific/Apia']) {
      vi.stubEnv('TZ', zone);
      // The end of February of a leap year, and the nights in which clocks are set.
      for (const date of ['2028-02-28T23:30:00Z', '2028-03-12T06:30:00Z', '2028-11-05T05:30:00Z']) {
        await using berth = createTestEngine(retain({ logAgeMs: 29 * dayMs }));
        berth.clock.nowMs = Date.parse(date);
        const session = berth.session();
        const seq = berth.store.log.head();
        const isThere = (): boolean => berth.store.log.at(seq) !== undefined;
        for (let day = 0; day < 32; day++) {
          const other = berth.session();
          await berth.until(other, () => true);
          await new Promise((resolve) => setImmediate(resolve));
          while (berth.engine.housekeeping.isBusy()) await new Promise((resolve) => setImmediate(resolve));
          expect({ zone, date, day, isThere: isThere() }).toEqual({ zone, date, day, isThere: day <= 29 });
          berth.clock.nowMs += dayMs;
        }
        expect(berth.events(session)).toEqual([]);
      }
    }
  });

  test('that is far too long is pruned in batches, each of which looks at no more than it may take', async () => {
    await using berth = createTestEngine(retain({ logEvents: 10 }));
    const session = berth.session();
    const insert = berth.store.db.prepare(
      `INSERT INTO event (session_id, type, version, payload, at_ms) VALUES (?, 'warning', 1, '{}', ?)`,
    );
    berth.store.db.transaction(() => {
      for (let i = 0; i < 5 * limits.pruneBatchRows; i++) insert.run(session, berth.clock.nowMs);
    })();
    await using after = berth.crash(retain({ logEvents: 10 }));
    const changes = (): number => after.store.db.prepare<[], number>('SELECT count(*) FROM event').pluck().get() ?? 0;
    after.engine.housekeeping.schedule();
    for (let before = changes(); after.engine.housekeeping.isBusy(); before = changes()) {
      await new Promise((resolve) => setImmediate(resolve));
      expect(before - changes()).toBeLessThanOrEqual(limits.pruneBatchRows);
    }
    expect(changes()).toBe(10);
  });
});

test('a deleted session with large messages is swept in steps of a bounded size, and the room is given back', async () => {
  await using berth = createTestEngine();
  const session = berth.session();
  const text = 'x'.repeat(1024 * 1024);
  for (let i = 0; i < 40; i++) {
    const content = [{ type: 'text' as const, text }];
    const about = { parent_id: null, role: 'user', run_id: 'run_1', turn_kind: 'prompt', created_at: '' } as const;
    const message = { type: 'message', id: `msg_${i}`, text, content, ...about, usage: null, stop_reason: null, model: null } as const;
    berth.write((rows) => rows.entries.insert(session, message, berth.clock.nowMs));
  }
  const entries = (): number => berth.store.db.prepare<[], number>('SELECT count(*) FROM entry').pluck().get() ?? 0;
  berth.engine.commit.decide(session, (state) => ({
    ok: true,
    reply: undefined,
    facts: [{ type: 'session_update', payload: { session_id: state.id, deleted: true } }],
  }));
  berth.engine.housekeeping.schedule();
  for (let before = entries(); berth.engine.housekeeping.isBusy(); before = entries()) {
    await new Promise((resolve) => setImmediate(resolve));
    expect((before - entries()) * text.length).toBeLessThanOrEqual(limits.sweepBatchBytes);
  }
  const pages = berth.store.db.pragma('page_count', { simple: true }) as number;
  expect(pages * 4096).toBeLessThan(1024 * 1024);
  expect(berth.store.db.pragma('freelist_count', { simple: true })).toBe(0);
  expect(existsSync(join(berth.dbPath))).toBe(true);
});
