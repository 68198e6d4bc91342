import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadSqlite } from '../../src/store/sqlite.js';
import { startDaemon } from '../support/daemon.js';
import type { RawLine } from '../support/raw-client.js';
import { begin, done, durable, heard, isEvent, listenTo, newSession, refusalOf, say, writtenText } from '../support/wire.js';

const seqs = (lines: readonly RawLine[]): number[] => durable(lines).map(({ seq }) => seq!);

test('a client that comes back at its cursor misses nothing and gets nothing twice, however often the daemon is killed', async () => {
  await using daemon = await startDaemon({ wps: 2_000 });
  const first = await daemon.raw();
  const sessionId = await newSession(first);
  const logId = done(await first.call('get_daemon')).log_id as string;
  const got: RawLine[] = [];
  let cursor = 0;
  for (let round = 0; round < 6; round++) {
    const client = await daemon.raw();
    const events = await listenTo(daemon, { session_id: sessionId, after: cursor, log_id: logId });
    await say(client, sessionId, 'call 2 tools');
    await begin(client, sessionId, 'stream 3000 words');
    // Cut off at another place each time.
    await events.until((line) => line.type === 'message_update' && (line.payload.offset as number) > round * 150);
    events.close();
    // What happens now it does not see.
    if (round % 2 === 0) done(await client.call('steer', { text: `say steered ${round}`, session_id: sessionId }));
    got.push(...durable(heard(events)));
    cursor = got.at(-1)!.seq!;
    await daemon.kill9();
    await daemon.start();
  }
  const back = await listenTo(daemon, { session_id: sessionId, after: cursor, log_id: logId });
  if (back.subscribed.payload.seq !== cursor) await back.until(({ seq, ok }) => ok === undefined && seq === back.subscribed.payload.seq);
  got.push(...durable(heard(back)));
  const whole = await listenTo(daemon, { session_id: sessionId, after: 0 });
  await whole.until(({ seq, ok }) => ok === undefined && seq === whole.subscribed.payload.seq);
  expect(got).toEqual(durable(heard(whole)));
  const starts = got.filter(isEvent('agent_start')).map(({ payload }) => payload.run_id);
  const ends = got.filter(isEvent('agent_end')).map(({ payload }) => payload.run_id);
  expect(ends).toEqual(starts);
});

test('seq only grows and is never used twice, over restarts and deletions', async () => {
  await using daemon = await startDaemon();
  let last = 0;
  for (let round = 0; round < 4; round++) {
    const client = await daemon.raw();
    const sessionId = await newSession(client);
    const { events } = await say(client, sessionId, 'say ahoy');
    for (const { seq } of events.filter((event: RawLine) => event.seq !== undefined)) {
      expect(seq).toBeGreaterThan(last);
      last = seq;
    }
    last = (await client.call('delete_session', { session_id: sessionId })).seq!;
    if (round % 2 === 0) await daemon.kill9();
    else await daemon.terminate();
    await daemon.start();
  }
});

test('the log keeps its name over restarts, and another store has another', async () => {
  await using daemon = await startDaemon();
  await using other = await startDaemon();
  const logId = done(await (await daemon.raw()).call('hello', {})).log_id;
  await daemon.kill9();
  await daemon.start();
  const client = await daemon.raw();
  expect(done(await client.call('hello', {})).log_id).toBe(logId);
  const sessionId = await newSession(client);
  expect(done(await client.call('attach', { session_id: sessionId })).log_id).toBe(logId);
  expect((await listenTo(daemon, { session_id: sessionId })).subscribed.payload.log_id).toBe(logId);
  const events = await other.rawEvents();
  expect(refusalOf(await events.call('subscribe', { session_id: '*', after: 0, log_id: logId })).code).toBe('cursor_expired');
});

test('what a killed daemon left open is closed before anyone is let in, and comes after every cursor', async () => {
  await using daemon = await startDaemon({ wps: 1_000 });
  const client = await daemon.raw();
  const sessionId = await newSession(client);
  const events = await listenTo(daemon, { session_id: sessionId });
  const runId = await begin(client, sessionId, 'stream 3000 words');
  const start = await events.until(isEvent('message_start', { role: 'assistant' }));
  await events.until((line) => line.type === 'message_update' && (line.payload.offset as number) > 3_000);
  await daemon.kill9();
  const heardBefore = writtenText(heard(events), start.payload.message_id!)[0]!;
  const cursor = seqs(heard(events)).at(-1)!;
  await daemon.start();
  const back = await listenTo(daemon, { session_id: sessionId, after: cursor });
  await back.until(isEvent('agent_end'));
  expect(durable(heard(back)).map(({ type }) => type)).toEqual(['message_end', 'turn_end', 'queue_update', 'agent_end']);
  expect(heard(back).find(isEvent('agent_end'))?.payload).toMatchObject({ run_id: runId, outcome: 'interrupted' });
  const kept = heard(back).find(isEvent('message_end'))!.payload.message as { text: string; stop_reason: string };
  expect(heardBefore.startsWith(kept.text)).toBe(true);
  const state = done(await (await daemon.raw()).call('get_state', { session_id: sessionId }));
  expect(state).toMatchObject({ run_state: 'idle', run_id: '', partial: [], last_run: { run_id: runId, outcome: 'interrupted' } });
});

test('a cursor below what was pruned is expired, and says where to begin again', async () => {
  await using daemon = await startDaemon();
  const client = await daemon.raw();
  const sessionId = await newSession(client);
  for (let i = 0; i < 5; i++) await say(client, sessionId, 'say ahoy');
  const { seq: head, payload } = await client.call('attach', { session_id: sessionId });
  await daemon.terminate();
  const floor = head! - 10;
  const Sqlite = loadSqlite();
  const db = new Sqlite(join(daemon.paths.stateDir, 'berth.db'));
  db.prepare('DELETE FROM event WHERE seq <= ?').run(floor);
  db.prepare("INSERT INTO meta (key, value) VALUES ('log_floor', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value").run(
    String(floor),
  );
  db.close();
  await daemon.start();
  const events = await daemon.rawEvents();
  for (const after of [0, 1, floor - 1]) {
    expect(refusalOf(await events.call('subscribe', { session_id: sessionId, after }))).toMatchObject({
      code: 'cursor_expired',
      details: { seq: head, log_id: payload.log_id },
    });
  }
  const back = await listenTo(daemon, { session_id: sessionId, after: floor, log_id: payload.log_id });
  await back.until(({ seq, ok }) => ok === undefined && seq === head);
  expect(seqs(heard(back))).toEqual(Array.from({ length: 10 }, (_, i) => floor + 1 + i));
});

test('a cursor is good in the middle of a page of the log, at its edges and far behind', async () => {
  await using daemon = await startDaemon();
  const client = await daemon.raw();
  const sessionId = await newSession(client);
  client.send(
    Array.from(
      { length: 1_500 },
      (_, i) => `${JSON.stringify({ id: `u${i}`, type: 'update_session', payload: { session_id: sessionId, title: `t${i}` } })}\n`,
    ).join(''),
  );
  const { seq: last } = await client.until(({ id }) => id === 'u1499');
  await daemon.terminate();
  await daemon.start();
  for (const behind of [0, 1, 2, 255, 256, 257, 511, 512, 513, 1_024, 1_499, 1_500]) {
    const after = last! - behind;
    const events = await listenTo(daemon, { session_id: sessionId, after });
    if (behind > 0) await events.until(({ seq, ok }) => ok === undefined && seq === last);
    expect(seqs(heard(events))).toEqual(Array.from({ length: behind }, (_, i) => after + 1 + i));
    events.close();
  }
});
