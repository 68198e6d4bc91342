import { describe, expect, test } from 'vitest';
import { deleteSession } from '../../src/core/settings.js';
import { limits } from '../../src/protocol/limits.js';
import { createTestEngine, type TestEngine } from '../support/engine.js';

let count = 0;

/** Says texts as messages of a session; returns their ids. */
function say(berth: TestEngine, session: string, ...texts: string[]): string[] {
  const ids = texts.map(() => `m${++count}`);
  berth.write(() => {
    for (const [i, text] of texts.entries()) {
      const about = { parent_id: null, role: 'user', run_id: 'run_1', turn_kind: 'prompt', created_at: '' } as const;
      const message = { type: 'message', id: ids[i] ?? '', text, content: [{ type: 'text', text }], ...about } as const;
      berth.store.write.entries.insert(
        session,
        { ...message, content: [...message.content], usage: null, stop_reason: null, model: null },
        1,
      );
    }
  });
  return ids;
}

function find(berth: TestEngine, query: string, session?: string, limit = 10): string[] {
  berth.engine.housekeeping.indexAll();
  return berth.store.search.search(query, session, limit).hits.map(({ message_id }) => message_id);
}

describe('the search', () => {
  test('finds messages that hold all the words, in any order and case', async () => {
    await using berth = createTestEngine();
    const [a, b, c] = say(berth, berth.session(), 'The Tide turns at noon', 'no tide here', 'Noon, and Größe 数字 café');
    expect(find(berth, 'NOON tide')).toEqual([a]);
    expect(find(berth, 'tide').toSorted()).toEqual([a, b]);
    expect(find(berth, 'größe')).toEqual([c]);
    expect(find(berth, 'café 数字')).toEqual([c]);
    expect(find(berth, 'nothing')).toEqual([]);
  });

  test.each(['"', 'a"b', 'NEAR(', '*', 'tide*', '-tide', 'text:tide', 'a AND', '(', ';--', '', ' ', '\u0000', '🙂'])(
    'takes %j as words, never as syntax',
    async (query) => {
      await using berth = createTestEngine();
      say(berth, berth.session(), 'words');
      expect(() => find(berth, query)).not.toThrow();
    },
  );

  test('is of one session or of all, within the limit', async () => {
    await using berth = createTestEngine();
    const [one, other] = [berth.session(), berth.session()];
    say(berth, one, ...Array.from({ length: 5 }, (_, i) => `text ${i}`));
    const [x] = say(berth, other, 'text');
    expect(find(berth, 'text')).toHaveLength(6);
    expect(find(berth, 'text', other)).toEqual([x]);
    expect(berth.store.search.search('text', one, 3)).toMatchObject({ hasMore: true });
    expect(find(berth, 'text', one, 3)).toHaveLength(3);
  });
});

describe('words that are added behind the log', () => {
  test('are all found, however many wait', async () => {
    await using berth = createTestEngine();
    const waiting = limits.searchBatchRows * 2 + 1;
    say(berth, berth.session(), ...Array.from({ length: waiting }, () => 'wave'));
    expect(find(berth, 'wave', undefined, 1_000)).toHaveLength(waiting);
    expect(berth.store.search.isBehind()).toBe(false);
  });

  test('come in batches of bounded length', async () => {
    await using berth = createTestEngine();
    say(berth, berth.session(), ...Array.from({ length: 10 }, () => 'wave '.repeat(limits.searchTextCharsMax / 5)));
    berth.write(({ search }) => search.indexBatch());
    const { hits } = berth.store.search.search('wave', undefined, 10);
    expect(hits.length).toBeGreaterThan(0);
    expect(hits.length).toBeLessThan(10);
  });

  test('are added by themselves, without anyone searching', async () => {
    await using berth = createTestEngine();
    const session = berth.session();
    berth.prompt(session, 'needle');
    (await berth.model.next()).say('thread').end();
    await berth.idle(session);
    expect(berth.store.search.isBehind()).toBe(true);
    await expect.poll(() => berth.store.search.isBehind(), { timeout: 10_000 }).toBe(false);
    expect(berth.store.search.search('thread', undefined, 10).hits).toHaveLength(1);
  });

  test('are found after a kill that came before they were added', async () => {
    await using berth = createTestEngine();
    const session = berth.session();
    berth.prompt(session, 'needle');
    (await berth.model.next()).say('thread').end();
    await berth.idle(session);
    await using next = berth.crash();
    expect(next.store.search.isBehind()).toBe(true);
    expect(find(next, 'needle')).toHaveLength(1);
  });

  test('are those of the new message where a number is given again', async () => {
    await using berth = createTestEngine();
    const [kept, gone] = [berth.session(), berth.session()];
    say(berth, kept, 'first');
    say(berth, gone, 'old words');
    expect(find(berth, 'old')).toHaveLength(1);
    berth.engine.commit.decide(gone, deleteSession);
    while (berth.store.sessions.deleted().length > 0) await new Promise((resolve) => setImmediate(resolve));
    const [again] = say(berth, kept, 'new words');
    expect(find(berth, 'words')).toEqual([again]);
    expect(find(berth, 'old')).toEqual([]);
  });
});
