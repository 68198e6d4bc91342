import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Message } from '../../src/protocol/messages.js';
import { hasRoom, keepNewest, keepOlder, olderPageOf, prependPage } from '../../src/view/paging.js';
import { emptyView, type SessionView } from '../../src/view/session-view.js';

/** Messages `m1`, `m2` … of a path, from one number to another. */
function path(from: number, to: number): Message[] {
  return Array.from(
    { length: Math.max(0, to - from + 1) },
    (_, at) =>
      ({ id: `m${from + at}`, parent_id: from + at === 1 ? null : `m${from + at - 1}`, text: 'text', content: [] as unknown }) as Message,
  );
}

function viewOfPath(from: number, to: number): SessionView {
  const empty = emptyView('s');
  return { ...empty, state: { ...empty.state, leafId: `m${to}` }, messages: path(from, to), hasMore: from > 1 };
}

function ids({ messages }: SessionView): string[] {
  return messages.map(({ id }) => id);
}

test('an older page goes before what there is, and says whether there is more', () => {
  const view = viewOfPath(5, 6);
  expect(olderPageOf(view)).toEqual({ session_id: 's', leaf_id: 'm5', before: 'm5' });
  const more = prependPage(view, { messages: path(3, 4), has_more: true });
  expect([ids(more), more.hasMore]).toEqual([['m3', 'm4', 'm5', 'm6'], true]);
  const all = prependPage(more, { messages: path(1, 2), has_more: false });
  expect([ids(all), all.hasMore]).toEqual([['m1', 'm2', 'm3', 'm4', 'm5', 'm6'], false]);
  expect(olderPageOf(all)).toBeUndefined();
  expect(ids(view)).toEqual(['m5', 'm6']);
});

test('a page that was asked for twice is added once', () => {
  const once = prependPage(viewOfPath(5, 6), { messages: path(3, 4), has_more: true });
  expect(prependPage(once, { messages: path(3, 4), has_more: true })).toBe(once);
});

test('of a page that overlaps only what is older is added', () => {
  expect(ids(prependPage(viewOfPath(4, 6), { messages: path(2, 5), has_more: true }))).toEqual(['m2', 'm3', 'm4', 'm5', 'm6']);
});

test('a page of another path, or one with a gap behind it, changes nothing', () => {
  const view = viewOfPath(5, 6);
  expect(prependPage(view, { messages: path(1, 3), has_more: false })).toBe(view);
  expect(prependPage(view, { messages: [{ id: 'other', parent_id: null } as Message], has_more: false })).toBe(view);
  expect(prependPage(view, { messages: [], has_more: false })).toBe(view);
});

test('a view at the root takes no page', () => {
  const view = viewOfPath(1, 2);
  expect(prependPage(view, { messages: path(1, 2), has_more: true })).toBe(view);
});

test('a view without messages is filled from its leaf', () => {
  const view = { ...viewOfPath(7, 6), hasMore: true };
  expect(olderPageOf(view)).toEqual({ session_id: 's' });
  expect(ids(prependPage(view, { messages: path(4, 6), has_more: true }))).toEqual(['m4', 'm5', 'm6']);
});

test('pages of any size, in any order and more than once, never make a gap or a duplicate', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 30 }), fc.array(fc.tuple(fc.nat(30), fc.nat(30))), (count, cuts) => {
      const from = Math.ceil(count / 2);
      const view = cuts.reduce(
        (seen, [a, b]) => {
          const [start, end] = [Math.max(1, Math.min(a, b)), Math.min(count, Math.max(a, b))];
          return prependPage(seen, { messages: path(start, end), has_more: start > 1 });
        },
        viewOfPath(from, count),
      );
      const first = Number(view.messages[0]?.id.slice(1));
      expect(view.messages).toEqual(path(first, count));
      expect(view.hasMore).toBe(first > 1);
    }),
  );
});

test('a view that keeps its newest messages can page the others in again', () => {
  const view = viewOfPath(1, 6);
  const kept = keepNewest(view, 2);
  expect([ids(kept), kept.hasMore]).toEqual([['m5', 'm6'], true]);
  expect(prependPage(kept, { messages: path(1, 4), has_more: false })).toEqual(view);
  expect(keepNewest(view, 6)).toBe(view);
  expect(ids(keepNewest(view, 0))).toEqual(['m6']);
});

test('a view is bounded by its texts, too, and keeps its newest message however long that is', () => {
  const view = viewOfPath(1, 6);
  expect(ids(keepNewest(view, 100, 8))).toEqual(['m5', 'm6']);
  expect(ids(keepNewest(view, 100, 1))).toEqual(['m6']);
  expect([hasRoom(view, 7, 24), hasRoom(view, 6, 24), hasRoom(view, 7, 23)]).toEqual([true, false, false]);
});

test('a view that is read anew keeps the older messages of the one before that are still on its path', () => {
  expect(ids(keepOlder(viewOfPath(5, 7), viewOfPath(2, 6)))).toEqual(['m2', 'm3', 'm4', 'm5', 'm6', 'm7']);
  expect(keepOlder(viewOfPath(5, 7), viewOfPath(2, 6)).hasMore).toBe(true);
  const [far, whole] = [viewOfPath(5, 7), viewOfPath(1, 3)];
  expect(keepOlder(far, viewOfPath(1, 3))).toBe(far);
  expect(keepOlder(whole, far)).toBe(whole);
});
