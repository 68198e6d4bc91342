import { expect, test } from 'vitest';
import type { AttachedSession, Berth, Message } from '../../src/client/index.js';
import { limits } from '../../src/protocol/limits.js';
import { startDaemon, type TestDaemon } from '../support/daemon.js';
import { seedHistory } from '../support/seed-store.js';

async function seeded(daemon: TestDaemon, count: number): Promise<{ berth: Berth; session_id: string }> {
  const first = await daemon.connect();
  const made = await first.call('new_session', {});
  if (!made.ok) throw new Error(made.error.message);
  const { session_id } = made.payload;
  await daemon.terminate();
  seedHistory(daemon, session_id, count, 'an old message');
  await daemon.start();
  return { berth: await daemon.connect(), session_id };
}

/** The whole path, page by page. */
async function readPath(berth: Berth, session_id: string): Promise<string[]> {
  const path: Message[] = [];
  for (let before: string | undefined; ;) {
    const reply = await berth.call('get_messages', { session_id, ...(before === undefined ? {} : { before }) });
    if (!reply.ok) throw new Error(reply.error.message);
    path.unshift(...reply.payload.messages);
    if (!reply.payload.has_more) return path.map(({ id }) => id);
    before = reply.payload.messages[0]?.id;
  }
}

async function loadAll(attached: AttachedSession, limit: number): Promise<number> {
  let pages = 0;
  while ((await attached.loadOlder(limit)).hasMore) pages++;
  return pages;
}

function ids(attached: AttachedSession): string[] {
  return attached.view().messages.map(({ id }) => id);
}

/** Folds what is heard until the view is at a place in the log. */
async function hearUntil(attached: AttachedSession, isThere: () => boolean): Promise<void> {
  if (isThere()) return;
  for await (const _heard of attached) if (isThere()) return;
}

function isIdle(attached: AttachedSession, runs: number): () => boolean {
  return () => attached.view().state.run === null && attached.view().messages.filter(({ text }) => text.startsWith('say ')).length >= runs;
}

test('older pages come into an attached view without a gap or a duplicate while messages arrive', async () => {
  await using daemon = await startDaemon();
  const { berth, session_id } = await seeded(daemon, 901);
  const attached = await berth.attach(session_id);
  expect([attached.view().messages.length, attached.view().hasMore, attached.view().pathCount]).toEqual([100, true, 901]);
  const heard = hearUntil(attached, isIdle(attached, 5));
  const said = (async () => {
    for (let i = 0; i < 5; i++) await berth.call('prompt', { session_id, text: `say ${i}` });
  })();
  const [one, same] = await Promise.all([attached.loadOlder(50), attached.loadOlder(50)]);
  expect([one, same]).toEqual([one, one]);
  expect(one).toMatchObject({ added: 50, hasMore: true, full: false });
  expect(await loadAll(attached, 70)).toBeGreaterThan(5);
  await Promise.all([said, heard]);
  const path = await readPath(berth, session_id);
  expect(path).toHaveLength(911);
  expect(ids(attached)).toEqual(path);
  expect(attached.view()).toMatchObject({ hasMore: false, pathCount: 911 });
  expect(await attached.loadOlder()).toEqual({ added: 0, hasMore: false, full: false });
});

test('pages that are loaded while the session goes on from an older message never mix two paths', async () => {
  await using daemon = await startDaemon();
  const { berth, session_id } = await seeded(daemon, 600);
  const attached = await berth.attach(session_id);
  const old = await readPath(berth, session_id);
  const leaf_id = old[249] ?? '';
  const heard = hearUntil(attached, isIdle(attached, 1));
  const loading = attached.loadOlder(120);
  const moved = await berth.call('set_leaf', { session_id, leaf_id });
  expect(moved).toMatchObject({ ok: true });
  await berth.call('prompt', { session_id, text: 'say on another branch' });
  await loading;
  await loadAll(attached, 90);
  await heard;
  await loadAll(attached, 90);
  const path = await readPath(berth, session_id);
  expect(path).toEqual([...old.slice(0, 250), ...path.slice(250)]);
  expect(path).toHaveLength(252);
  expect(ids(attached)).toEqual(path);
  expect(attached.view()).toMatchObject({ hasMore: false, pathCount: 252 });
});

test('a view that is read anew keeps the older pages that are still on its path', async () => {
  await using daemon = await startDaemon();
  const { berth, session_id } = await seeded(daemon, 600);
  const attached = await berth.attach(session_id);
  await attached.loadOlder(300);
  const [kept] = ids(attached);
  const old = await readPath(berth, session_id);
  await berth.call('set_leaf', { session_id, leaf_id: old[50] ?? '' });
  await berth.call('set_leaf', { session_id, leaf_id: old.at(-1) ?? '' });
  const heard: string[] = [];
  for await (const item of attached) {
    heard.push(item.kind);
    if (item.kind === 'reset' && attached.view().state.leafId === old.at(-1)) break;
  }
  expect(heard).toContain('reset');
  expect(ids(attached)[0]).toBe(kept);
  expect(ids(attached)).toEqual(old.slice(-400));
});

test('a branch and a summary are paged like any other path', async () => {
  await using daemon = await startDaemon();
  const { berth, session_id } = await seeded(daemon, 400);
  const branched = await berth.call('branch_session', { session_id });
  if (!branched.ok) throw new Error(branched.error.message);
  const branch = branched.payload.session_id;
  const attached = await berth.attach(branch);
  const heard = hearUntil(attached, () => attached.view().messages.some(({ role }) => role === 'compaction'));
  await attached.loadOlder(100);
  const summary = await berth.call('compact_session', { session_id: branch });
  expect(summary).toMatchObject({ ok: true });
  await heard;
  await loadAll(attached, 100);
  expect(ids(attached)).toEqual(await readPath(berth, branch));
  expect(attached.view().pathCount).toBe(401);
});

test('a view holds a bounded number of messages and says so', async () => {
  await using daemon = await startDaemon();
  const { berth, session_id } = await seeded(daemon, limits.viewMessagesMax + 100);
  const attached = await berth.attach(session_id);
  let loaded = await attached.loadOlder(limits.pageRowsMax);
  while (!loaded.full) loaded = await attached.loadOlder(limits.pageRowsMax);
  expect(attached.view().messages).toHaveLength(limits.viewMessagesMax);
  expect(await attached.loadOlder()).toEqual({ added: 0, hasMore: true, full: true });
  const heard = hearUntil(attached, isIdle(attached, 1));
  await berth.call('prompt', { session_id, text: 'say more' });
  await heard;
  expect(attached.view().messages).toHaveLength(limits.viewMessagesMax);
  expect(attached.view()).toMatchObject({ hasMore: true, pathCount: limits.viewMessagesMax + 102 });
  expect(ids(attached)).toEqual((await readPath(berth, session_id)).slice(-limits.viewMessagesMax));
});

test('loading older messages of a session that was deleted is refused', async () => {
  await using daemon = await startDaemon();
  const { berth, session_id } = await seeded(daemon, 300);
  const attached = await berth.attach(session_id);
  await berth.call('delete_session', { session_id });
  await expect(attached.loadOlder()).rejects.toThrow(expect.objectContaining({ name: 'AttachRefused' }));
});
