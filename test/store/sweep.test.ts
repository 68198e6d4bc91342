import { statSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { setDraft } from '../../src/core/drafts.js';
import { createSession, deleteSession } from '../../src/core/settings.js';
import type { Message } from '../../src/protocol/messages.js';
import { createAskUserTool } from '../../src/tools/talk/ask-user.js';
import { createTestEngine, type TestEngine } from '../support/engine.js';

const tables = [
  'event',
  'session',
  'entry',
  'artifact',
  'run',
  'tool_call',
  'input',
  'input_text',
  'ui_request',
  'partial',
  'draft',
  'prompt',
];

function countRows(berth: TestEngine): Record<string, number> {
  return Object.fromEntries(
    tables.map((name) => [name, berth.store.db.prepare<[], number>(`SELECT count(*) FROM ${name}`).pluck().get() ?? 0]),
  );
}

function remove(berth: TestEngine, session: string): void {
  expect(berth.engine.commit.decide(session, deleteSession).ok).toBe(true);
}

/** Until housekeeping has nothing left to do. */
async function swept(berth: TestEngine): Promise<void> {
  while (berth.store.sessions.deleted().length > 0) await new Promise((resolve) => setImmediate(resolve));
}

async function talk(berth: TestEngine, session: string, text: string, answer = `re ${text}`): Promise<void> {
  berth.prompt(session, text);
  (await berth.model.next()).say(answer).end();
  await berth.idle(session);
}

function branch(berth: TestEngine, parent: string, leafId?: string): string {
  const leaf_id = leafId ?? berth.store.load(parent)?.leafId ?? null;
  const id = `ses_branch_${berth.store.sessions.count()}_${parent.slice(-4)}`;
  const made = berth.engine.commit.create(id, () => createSession(id, { cwd: '/', model: 'scripted/model', parent_id: parent, leaf_id }));
  expect(made.ok).toBe(true);
  return id;
}

function toMessage(id: string, text: string): Message {
  const content = [{ type: 'text' as const, text }];
  const about = { parent_id: null, role: 'user', run_id: 'run_1', turn_kind: 'prompt', created_at: '' } as const;
  return { type: 'message', id, text, content, ...about, usage: null, stop_reason: null, model: null };
}

function search(berth: TestEngine, words: string): number {
  berth.engine.housekeeping.indexAll();
  return berth.store.search.search(words, undefined, 100).hits.length;
}

describe('a deleted session', () => {
  test('leaves one event that says so, and nothing else', async () => {
    await using berth = createTestEngine({ tools: [createAskUserTool()] });
    const session = berth.session();
    berth.prompt(session, 'needle');
    const call = await berth.model.next();
    berth.submit(session, 'follow_up', 'f');
    call.think('hm').say('x'.repeat(2_000_000)).call('ask_user', { method: 'confirm', title: 'Sure?' }).end();
    berth.answer(await berth.asked(session), { result: true });
    (await berth.model.next()).say('y').end();
    (await berth.model.next()).say('z').end();
    await berth.idle(session);
    const draft = { draftId: 'dra_1', by: 'test', clientId: 'cli_1', text: 'half' };
    expect(berth.engine.commit.decide(session, (state) => setDraft(state, draft)).ok).toBe(true);
    expect(search(berth, 'needle')).toBe(1);
    expect(countRows(berth)).toMatchObject({ session: 1, artifact: 1, ui_request: 1, run: 1, input: 2, draft: 1, prompt: 2 });
    remove(berth, session);
    expect(berth.store.load(session)).toBeUndefined();
    expect(search(berth, 'needle')).toBe(0);
    await swept(berth);
    expect(countRows(berth)).toEqual({ ...Object.fromEntries(tables.map((name) => [name, 0])), event: 1 });
    expect(berth.events(session)).toMatchObject([{ type: 'session_update', payload: { deleted: true } }]);
    expect(berth.store.db.prepare('SELECT count(*) FROM entry_search').pluck().get()).toBe(0);
  });

  test('leaves other sessions alone', async () => {
    await using berth = createTestEngine();
    const [gone, kept] = [berth.session(), berth.session()];
    await talk(berth, gone, 'gone');
    await talk(berth, kept, 'kept');
    const before = berth.events(kept);
    remove(berth, gone);
    await swept(berth);
    expect(berth.history(kept)).toEqual(['user: kept', 'assistant: re kept']);
    expect(berth.events(kept)).toEqual(before);
  });

  test('is swept after a restart too', async () => {
    await using berth = createTestEngine();
    const session = berth.session();
    await talk(berth, session, 'gone');
    remove(berth, session);
    await using after = berth.crash();
    expect(after.store.sessions.deleted()).toEqual([session]);
    after.engine.recover();
    await swept(after);
    expect(countRows(after)).toMatchObject({ session: 0, entry: 0, run: 0 });
  });

  test('gives its pages back: the file shrinks', async () => {
    await using berth = createTestEngine();
    const kept = berth.session();
    await talk(berth, kept, 'kept');
    const session = berth.session();
    const text = 'tide '.repeat(200_000);
    berth.write(() => {
      for (let i = 0; i < 30; i++) berth.store.write.entries.insert(session, toMessage(`msg_${i}`, text), berth.clock.nowMs);
    });
    berth.store.db.pragma('wal_checkpoint(TRUNCATE)');
    expect(statSync(berth.dbPath).size).toBeGreaterThan(25 * 1024 * 1024);
    remove(berth, session);
    await swept(berth);
    // What is left to do after the last row is gone is done in the turns that follow.
    for (let turn = 0; turn < 200 && berth.store.db.pragma('freelist_count', { simple: true }) !== 0; turn++) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    berth.store.db.pragma('wal_checkpoint(TRUNCATE)');
    expect(statSync(berth.dbPath).size).toBeLessThan(2 * 1024 * 1024);
    expect(berth.history(kept)).toHaveLength(2);
  });
});

describe('a branch', () => {
  test('keeps what it shares when its parent is deleted, and nothing more', async () => {
    await using berth = createTestEngine();
    const parent = berth.session();
    await talk(berth, parent, 'shared');
    const child = branch(berth, parent);
    await talk(berth, parent, 'only the parent’s');
    await talk(berth, child, 'the child’s');
    remove(berth, parent);
    await swept(berth);
    expect(berth.history(child)).toEqual(['user: shared', 'assistant: re shared', 'user: the child’s', 'assistant: re the child’s']);
    expect(countRows(berth)).toMatchObject({ entry: 4, run: 1 });
    expect(search(berth, 'parent')).toBe(0);
    await talk(berth, child, 'and on');
    expect(berth.history(child)).toHaveLength(6);
    expect(berth.store.db.pragma('foreign_key_check')).toEqual([]);
  });

  test('that moved its leaf away still has what it branched from', async () => {
    await using berth = createTestEngine();
    const parent = berth.session();
    await talk(berth, parent, 'one');
    const first = berth.store.load(parent)?.leafId ?? '';
    await talk(berth, parent, 'two');
    const child = branch(berth, parent);
    expect(
      berth.engine.commit.decide(child, (state) => ({
        ok: true,
        reply: undefined,
        facts: [{ type: 'session_update', payload: { session_id: state.id, leaf_id: first } }],
      })).ok,
    ).toBe(true);
    remove(berth, parent);
    await swept(berth);
    const { nodes } = berth.store.tree.nodes(child, berth.store.sessions.baseOf(child));
    expect(nodes.map(({ snippet }) => snippet)).toEqual(['one', 're one', 'two', 're two']);
  });

  test('that is deleted leaves its parent whole', async () => {
    await using berth = createTestEngine();
    const parent = berth.session();
    await talk(berth, parent, 'shared');
    const child = branch(berth, parent);
    await talk(berth, child, 'gone');
    remove(berth, child);
    await swept(berth);
    expect(berth.history(parent)).toEqual(['user: shared', 'assistant: re shared']);
    expect(countRows(berth)).toMatchObject({ entry: 2, session: 1 });
  });

  test.each([
    ['parent first', [0, 1, 2]],
    ['branch first', [2, 1, 0]],
    ['the one in the middle first', [1, 0, 2]],
  ])('and its family, deleted one after the other, leave nothing: %s', async (_order, order) => {
    await using berth = createTestEngine();
    const parent = berth.session();
    await talk(berth, parent, 'a');
    const child = branch(berth, parent);
    await talk(berth, child, 'b');
    const grandchild = branch(berth, child);
    await talk(berth, grandchild, 'c');
    const family = [parent, child, grandchild];
    for (const index of order) {
      remove(berth, family[index] ?? '');
      await swept(berth);
    }
    expect(countRows(berth)).toMatchObject({ session: 0, entry: 0, run: 0, input: 0 });
  });

  test('and its parent, deleted at once, leave nothing', async () => {
    await using berth = createTestEngine();
    const parent = berth.session();
    await talk(berth, parent, 'a');
    const child = branch(berth, parent);
    await talk(berth, child, 'b');
    const unused = branch(berth, parent);
    for (const session of [parent, child, unused]) remove(berth, session);
    await swept(berth);
    expect(countRows(berth)).toMatchObject({ session: 0, entry: 0, run: 0, input: 0 });
  });
});
