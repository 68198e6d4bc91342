import { describe, expect, test } from 'vitest';
import { deleteSession } from '../../src/core/settings.js';
import { limits } from '../../src/protocol/limits.js';
import { openDatabase } from '../../src/store/database.js';
import { migrate } from '../../src/store/migrate.js';
import { createPromptRows } from '../../src/store/rows/prompt-rows.js';
import { createTestEngine, migrations, type TestEngine } from '../support/engine.js';
import { processorMs } from '../support/processor-time.js';
import { makeTempDir } from '../support/temp-dir.js';

let count = 0;

/** Puts messages of people into a session, oldest first. */
function send(berth: TestEngine, session: string, texts: readonly string[], role: 'user' | 'assistant' = 'user'): void {
  berth.write(({ entries }) => {
    for (const text of texts) {
      const about = { run_id: 'run_1', turn_kind: 'prompt', created_at: '', usage: null, stop_reason: null, model: null } as const;
      const content = [{ type: 'text' as const, text }];
      const id = `msg_${++count}`;
      entries.insert(session, { type: 'message', id, parent_id: null, role, text, content, ...about }, berth.clock.nowMs++);
    }
  });
}

function list(berth: TestEngine, { cwd = '/', query = '', limit = 100 } = {}): { texts: string[]; hasMore: boolean } {
  berth.engine.housekeeping.indexAll();
  const { prompts, hasMore } = berth.store.prompts.list({ cwd, query, limit });
  return { texts: prompts.map(({ text }) => text), hasMore };
}

describe('the prompts of people', () => {
  test('are those of the same directory first, newest first, and each text once', async () => {
    await using berth = createTestEngine();
    const [here, there] = [berth.session({ cwd: '/a' }), berth.session({ cwd: '/b' })];
    send(berth, here, ['one', 'two', 'one']);
    send(berth, there, ['three', 'two', 'four']);
    send(berth, berth.session({ cwd: '/a' }), ['five']);
    send(berth, here, ['an answer'], 'assistant');
    expect(list(berth, { cwd: '/a' })).toEqual({ texts: ['five', 'one', 'two', 'four', 'three'], hasMore: false });
    expect(list(berth, { cwd: '/b' }).texts).toEqual(['four', 'two', 'three', 'five', 'one']);
    expect(list(berth, { cwd: '' }).texts).toEqual(['five', 'four', 'two', 'three', 'one']);
    expect(list(berth, { cwd: '/a', limit: 2 })).toEqual({ texts: ['five', 'one'], hasMore: true });
    expect(list(berth, { cwd: '/a', limit: 5 }).hasMore).toBe(false);
    const [first] = berth.store.prompts.list({ cwd: '/b', query: '', limit: 1 }).prompts;
    expect(first).toEqual({ text: 'four', session_id: there, message_id: 'msg_6', created_at: expect.any(String) as string });
  });

  test('are found by a part of their text in any case, and a query is never a pattern', async () => {
    await using berth = createTestEngine();
    const session = berth.session();
    const texts = ['Fix the ÄRGER', '100% sure', 'a_b', 'aXb', 'back\\slash', 'it\'s "quoted"', 'line\nline'];
    send(berth, session, texts);
    const found = (query: string): string[] => list(berth, { query }).texts;
    expect(found('ärger')).toEqual(['Fix the ÄRGER']);
    expect(found('FIX')).toEqual(['Fix the ÄRGER']);
    expect(found('%')).toEqual(['100% sure']);
    expect(found('a_b')).toEqual(['a_b']);
    expect(found('\\')).toEqual(['back\\slash']);
    expect(found('"')).toEqual(['it\'s "quoted"']);
    expect(found('e\nl')).toEqual(['line\nline']);
    expect(found('nowhere')).toEqual([]);
    expect(found('')).toEqual(texts.toReversed());
  });

  test('that say nothing are left out, and long ones differ by their ends', async () => {
    await using berth = createTestEngine();
    const session = berth.session();
    const long = 'x'.repeat(limits.promptFoldedCharsMax);
    send(berth, session, ['', ' \n\t', `${long}1`, `${long}2`, `${long}1`, 'a', 'A']);
    expect(list(berth).texts).toEqual(['A', `${long}1`, `${long}2`]);
    send(berth, session, ['💥'.repeat(limits.promptTextCharsMax)]);
    berth.engine.housekeeping.indexAll();
    const [cut] = berth.store.prompts.list({ cwd: '/', query: '', limit: 1 }).prompts;
    expect({ ...cut, text: cut?.text.length }).toMatchObject({ text: limits.promptTextCharsMax, truncated: true });
  });

  test('are gone with their session, also where a branch still shows them', async () => {
    await using berth = createTestEngine();
    const [kept, gone] = [berth.session(), berth.session()];
    send(berth, kept, ['kept']);
    send(berth, gone, ['indexed before']);
    expect(list(berth).texts).toEqual(['indexed before', 'kept']);
    send(berth, gone, ['indexed after']);
    expect(berth.engine.commit.decide(gone, deleteSession).ok).toBe(true);
    expect(list(berth).texts).toEqual(['kept']);
    while (berth.store.sessions.deleted().length > 0) await new Promise((resolve) => setImmediate(resolve));
    expect(berth.store.db.prepare('SELECT folded FROM prompt').pluck().all()).toEqual(['kept']);
  });

  test('of an older store are there', () => {
    using dir = makeTempDir();
    const db = openDatabase(dir.file('a.db'), migrations.length);
    const before = migrations.findIndex(({ sql }) => sql.includes('CREATE TABLE prompt'));
    migrate(db, migrations.slice(0, before));
    const session = db.prepare(`INSERT INTO session (id, title, cwd, model, thinking, steering_mode, follow_up_mode, approval_mode,
      when_detached, recovery, created_ms, updated_ms, deleted) VALUES (?, '', ?, 'm', 'off', 'all', 'all', 'ask', 'wait', 'pause', 0, 0, ?)`);
    const entry = db.prepare(`INSERT INTO entry (id, session_id, role, run_id, turn_kind, text, bytes, at_ms)
      VALUES (?, ?, ?, 'r', 'prompt', ?, 0, 0)`);
    session.run('ses_1', '/w', 0);
    session.run('ses_2', '/w', 1);
    for (const [i, [id, role, text]] of [['ses_1', 'user', 'Ahoy'], ['ses_1', 'assistant', 'no'], ['ses_1', 'user', ' \n'], ['ses_2', 'user', 'no'], ['ses_1', 'user', 'unindexed']].entries())
      entry.run(`msg_${i}`, id, role, text); // prettier-ignore
    db.exec(`UPDATE meta SET value = '4' WHERE key = 'search_mark'`);
    migrate(db, migrations);
    const { prompts } = createPromptRows(db).read.list({ cwd: '/w', query: 'ahoy', limit: 9 });
    expect(prompts).toEqual([{ text: 'Ahoy', session_id: 'ses_1', message_id: 'msg_0', created_at: '1970-01-01T00:00:00.000Z' }]);
    expect(db.prepare('SELECT folded FROM prompt').pluck().all()).toEqual(['ahoy']);
    db.close();
  });

  test('are searched within a bound, however many there are', async () => {
    await using berth = createTestEngine();
    const fill = berth.store.db.prepare(`INSERT INTO prompt (no, session_id, cwd, folded)
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
      SELECT -i, 'ses_none', '/' || (i % 2), 'a prompt of some length, which is ' || i FROM n`);
    fill.run();
    expect(list(berth, { cwd: '/1', query: 'nowhere to be found' })).toEqual({ texts: [], hasMore: true });
    const beforeMs = processorMs();
    list(berth, { cwd: '/1', query: 'nowhere to be found' });
    expect(processorMs() - beforeMs).toBeLessThan(100);
  });
});
