import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadSqlite } from '../../src/store/sqlite.js';
import { startDaemon } from '../support/daemon.js';
import { openTalk } from '../support/talk.js';

const Sqlite = loadSqlite();

test('a cursor below what was pruned has expired, and is told where the log stands; one above goes on', async () => {
  await using daemon = await startDaemon();
  const talk = await openTalk(daemon);
  expect(await talk.run('say old')).toBe('completed');
  const old = (await talk.state()).seq as number;
  expect(await talk.run('say young')).toBe('completed');
  const head = (await talk.state()).seq as number;
  const logId = String((await talk.commands.call('hello')).payload.log_id);
  await daemon.terminate();
  const db = new Sqlite(join(daemon.paths.stateDir, 'berth.db'));
  db.prepare('UPDATE event SET at_ms = 0 WHERE seq <= ?').run(old);
  db.close();
  await daemon.start();
  const events = await daemon.rawEvents();
  const subscribe = async (id: string, payload: object) => {
    events.send({ id, type: 'subscribe', payload: { session_id: talk.session, ...payload } });
    return events.until((line) => line.id === id);
  };
  // Pruning begins right after the start, between other work.
  for (let i = 0; (await subscribe(`p${i}`, { after: 1 })).ok; i++) expect(i).toBeLessThan(1_000);
  expect(await subscribe('below', { after: old - 1 })).toMatchObject({
    ok: false,
    error: { code: 'cursor_expired', details: { seq: head, log_id: logId } },
  });
  expect(await subscribe('past', { after: head + 1 })).toMatchObject({ ok: false, error: { code: 'cursor_expired' } });
  expect(await subscribe('other', { after: head, log_id: 'log_other' })).toMatchObject({ ok: false, error: { code: 'cursor_expired' } });
  const from = events.lines.length;
  expect(await subscribe('above', { after: old, log_id: logId })).toMatchObject({ ok: true, payload: { seq: head, resumed: true } });
  await events.until((line) => line.seq === head && line.ok === undefined);
  const seqs = events.lines.slice(from).flatMap((line) => (line.ok === undefined && line.seq !== undefined ? [line.seq] : []));
  expect(seqs).toEqual(Array.from({ length: head - old }, (_, i) => old + 1 + i));
  // What was said is not pruned with what was told.
  const again = await openTalkAfter();
  expect(again).toEqual(['say old', 'old', 'say young', 'young']);

  async function openTalkAfter(): Promise<string[]> {
    const client = await daemon.raw();
    const { payload } = await client.call('get_messages', { session_id: talk.session });
    return (payload.messages as { text: string }[]).map(({ text }) => text);
  }
});
