import { describe, expect, test } from 'vitest';
import { allSessions, type Scope } from '../../src/core/scope.js';
import { limits } from '../../src/protocol/limits.js';
import { createLogLines, type LogLines } from '../../src/server/lines/log-lines.js';
import { createTestEngine, type TestEngine } from '../support/engine.js';

function seqs(berth: TestEngine): number[] {
  return berth.store.db.prepare<[], number>('SELECT seq FROM event ORDER BY seq').pluck().all();
}

function readAll(lines: LogLines, scope: Scope, after = 0): number[] {
  const read: number[] = [];
  for (let from = after; ;) {
    const page = lines.readAfter(scope, from);
    read.push(...page.lines.map(({ seq }) => seq));
    if (!page.more) return read;
    from = read.at(-1) ?? from;
  }
}

describe('reading after a cursor', () => {
  test('gives everything once, in order, in pages, of one session or of all', async () => {
    await using berth = createTestEngine();
    const warm = createLogLines(berth.engine);
    const [a, b] = [berth.session(), berth.session()];
    for (let i = 0; i < 600; i++) berth.change(i % 3 === 0 ? a : b, { title: `${i}` });
    await using later = berth.crash();
    const cold = createLogLines(later.engine);
    const all = seqs(berth);
    for (const lines of [warm, cold]) {
      expect(readAll(lines, allSessions)).toEqual(all);
      expect(readAll(lines, allSessions, 300)).toEqual(all.filter((seq) => seq > 300));
      expect([...readAll(lines, { sessionId: a }), ...readAll(lines, { sessionId: b })].toSorted((x, y) => x - y)).toEqual(all);
      expect(readAll(lines, { sessionId: a }, lines.head())).toEqual([]);
    }
    expect(cold.readAfter(allSessions, 0)).toMatchObject({ more: true });
    expect(cold.readAfter(allSessions, 0).lines).toHaveLength(limits.eventPageRowsMax);
  });

  test('keeps what is held in memory within its bound, however much is told', async () => {
    await using berth = createTestEngine();
    const lines = createLogLines(berth.engine);
    const session = berth.session();
    const title = 'x'.repeat(10_000);
    for (let i = 0; i < 300; i++) berth.change(session, { title });
    expect(lines.readAfter({ sessionId: session }, lines.head() - 50).lines).toHaveLength(50);
    expect(readAll(lines, { sessionId: session })).toEqual(seqs(berth));
    lines.trim();
    // What is not kept any more comes from the store, in pages.
    expect(lines.readAfter({ sessionId: session }, lines.head() - 50)).toMatchObject({ more: true });
    expect(readAll(lines, { sessionId: session })).toEqual(seqs(berth));
  });

  test('is a read of the store only for those who have fallen behind', async () => {
    await using berth = createTestEngine();
    const session = berth.session();
    const lines = createLogLines(berth.engine);
    berth.change(session, { title: 'told' });
    berth.store.db.exec('DELETE FROM event');
    expect(lines.readAfter({ sessionId: session }, lines.head() - 1).lines).toHaveLength(1);
    expect(lines.readAfter({ sessionId: session }, 0).lines).toEqual([]);
  });
});

describe('a line', () => {
  test('is encoded once for all who read it, whether it was just committed or is read again', async () => {
    await using berth = createTestEngine();
    const session = berth.session();
    const lines = createLogLines(berth.engine);
    berth.change(session, { title: 'new' });
    const readers: [scope: Scope, after: number][] = [
      [{ sessionId: session }, 0],
      [allSessions, 0],
      [{ sessionId: session }, lines.head() - 1],
      [allSessions, lines.head() - 1],
    ];
    const [old, oldOfAll, fresh, freshOfAll] = readers.map(([scope, after]) => lines.readAfter(scope, after).lines[0]?.pieces[0]);
    expect(old?.length).toBeGreaterThan(0);
    expect(oldOfAll).toBe(old);
    expect(fresh?.length).toBeGreaterThan(0);
    expect(freshOfAll).toBe(fresh);
  });

  test('that is kept takes no more memory than its bytes', async () => {
    await using berth = createTestEngine();
    const kept = createLogLines(berth.engine);
    const { lines } = kept.readAfter({ sessionId: berth.session() }, 0);
    expect(lines.flatMap(({ pieces }) => pieces.map(({ buffer }) => buffer.byteLength))).toEqual(lines.map(({ bytes }) => bytes));
    expect(lines).not.toEqual([]);
  });
});
