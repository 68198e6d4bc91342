import { expect, test } from 'vitest';
import { createRunHistories } from '../../src/engine/run/run-history.js';
import { limits } from '../../src/protocol/limits.js';
import type { Message } from '../../src/protocol/messages.js';
import type { Store } from '../../src/store/store.js';
import { createTestEngine, type TestEngine } from '../support/engine.js';

function add(berth: TestEngine, session: string, id: string, parentId: string | null, text = id, more: Partial<Message> = {}): string {
  const content: Message['content'] = [{ type: 'text', text }];
  const rest = { run_id: 'run_1', turn_kind: 'prompt', created_at: '', usage: null, stop_reason: null, model: null } as const;
  berth.write(() =>
    berth.store.write.entries.insert(
      session,
      { type: 'message', id, parent_id: parentId, role: 'user', text, content, ...rest, ...more },
      0,
    ),
  );
  return id;
}

/** Counts how often a whole history is read. */
function counting(store: Store): { store: Store; wholeReads(): number } {
  let reads = 0;
  const entries = {
    ...store.entries,
    readHistory(leafId: string | null) {
      reads++;
      return store.entries.readHistory(leafId);
    },
  };
  return { store: { ...store, entries }, wholeReads: () => reads };
}

test('a history is read once and then extended, whatever is added to it', async () => {
  await using berth = createTestEngine();
  const session = berth.session();
  const { store, wholeReads } = counting(berth.store);
  const history = createRunHistories(store)();
  let leaf: string | null = null;
  for (let i = 0; i < 50; i++) {
    for (let j = 0; j < 3; j++) leaf = add(berth, session, `m${i}-${j}`, leaf);
    expect(history.at(leaf)).toEqual(berth.store.entries.history(leaf));
  }
  expect(wholeReads()).toBe(1);
});

test('a summary, another branch and an earlier leaf are read afresh', async () => {
  await using berth = createTestEngine();
  const session = berth.session();
  const history = createRunHistories(berth.store)();
  const expectFresh = (leaf: string): void => expect(history.at(leaf)).toEqual(berth.store.entries.history(leaf));
  add(berth, session, 'a', null);
  add(berth, session, 'b', 'a');
  expectFresh('b');
  const facts = { first_kept_entry_id: 'b', tokens_before: 10, tokens_after: 1, trigger: 'manual' } as const;
  add(berth, session, 'sum', 'b', 'summary', { role: 'compaction', compaction: facts });
  expectFresh('sum');
  add(berth, session, 'c', 'sum');
  expectFresh('c');
  expect(history.at('c').map(({ message }) => message.id)).toEqual(['sum', 'b', 'c']);
  add(berth, session, 'other', 'a');
  expectFresh('other');
  expectFresh('a');
  expect(history.at('a').map(({ message }) => message.id)).toEqual(['a']);
});

test('at the bounds of a request the oldest messages go, as they do when it is read afresh', async () => {
  await using berth = createTestEngine();
  const session = berth.session();
  const history = createRunHistories(berth.store)();
  const text = 'x'.repeat(limits.contextBytesMax / 4);
  let leaf: string | null = null;
  for (let i = 0; i < 6; i++) {
    leaf = add(berth, session, `m${i}`, leaf, text);
    expect(history.at(leaf).map(({ message }) => message.id)).toEqual(berth.store.entries.history(leaf).map(({ message }) => message.id));
  }
  expect(history.at(leaf)).toHaveLength(3);
});

test('what all runs keep is bounded, and given back when a run has ended', async () => {
  await using berth = createTestEngine();
  const session = berth.session();
  const { store, wholeReads } = counting(berth.store);
  const open = createRunHistories(store, 1_500);
  const leaf = add(berth, session, 'm', null, 'x'.repeat(1_000));
  const [one, other] = [open(), open()];
  one.at(leaf);
  other.at(leaf);
  const next = add(berth, session, 'n', leaf);
  one.at(next);
  expect(wholeReads()).toBe(2);
  other.at(next);
  expect(wholeReads()).toBe(3);
  one.forget();
  other.at(next);
  expect(wholeReads()).toBe(4);
  other.at(add(berth, session, 'o', next));
  expect(wholeReads()).toBe(4);
});
