import { statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { limits } from '../../src/protocol/limits.js';
import { loadSqlite } from '../../src/store/sqlite.js';
import { startDaemon, type TestDaemon } from '../support/daemon.js';
import { startWithHeldModel } from '../support/held-model.js';
import { openTalk } from '../support/talk.js';
import { streamed } from '../support/wire.js';

const Sqlite = loadSqlite();

/** Another program that holds the write lock of the store. */
function holdLock(daemon: TestDaemon): { release(): void } {
  const theirs = new Sqlite(join(daemon.paths.stateDir, 'berth.db'), { timeout: 2_000 });
  theirs.exec('BEGIN IMMEDIATE');
  return {
    release() {
      theirs.exec('ROLLBACK');
      theirs.close();
    },
  };
}

async function timed<T>(work: Promise<T>): Promise<{ value: T; ms: number }> {
  const from = performance.now();
  const value = await work;
  return { value, ms: performance.now() - from };
}

describe('while another program holds the store', () => {
  test('commands are refused as store_busy within a bounded time, reading works, and so does everything afterwards', async () => {
    await using daemon = await startDaemon();
    const talk = await openTalk(daemon);
    expect(await talk.run('say before')).toBe('completed');
    const prompt = { session_id: talk.session, text: 'say now', wait: false, input_id: 'inp_again' };
    const tookMs: number[] = [];
    let lock = holdLock(daemon);
    for (let round = 0; round < 4; round++) {
      const { value, ms } = await timed(talk.commands.call('prompt', prompt));
      expect(value).toMatchObject({ ok: false, error: { code: 'store_busy', retryable: true } });
      tookMs.push(ms);
      lock.release();
      // What is taken in between makes the next one wait for the lock again.
      await talk.ok('update_session', { title: `round ${round}` });
      lock = holdLock(daemon);
    }
    // A busy machine may make some of them longer, and not all.
    expect(Math.min(...tookMs)).toBeLessThan(limits.busyTimeoutMs + 300);
    for (const [type, payload] of [
      ['new_session', {}],
      ['update_session', { title: 'x' }],
      ['delete_session', {}],
    ] as const) {
      expect(await talk.refused(type, payload)).toBe('store_busy');
    }
    expect(await talk.texts()).toEqual(['say before', 'before']);
    lock.release();
    expect(await talk.ended(await talk.prompt('say now', { input_id: 'inp_again' }))).toBe('completed');
    expect(await talk.texts()).toEqual(['say before', 'before', 'say now', 'now']);
  });

  test('the daemon is not frozen, however many commands are refused', async () => {
    await using daemon = await startDaemon();
    const talk = await openTalk(daemon);
    const lock = holdLock(daemon);
    const other = await daemon.raw();
    const refusals = 200;
    let over = false;
    const flood = timed(
      (async () => {
        for (let refused = 0; refused < refusals; refused += 10)
          await Promise.all(Array.from({ length: 10 }, () => talk.refused('update_session', { title: 'x' })));
        over = true;
      })(),
    );
    let pings = 0;
    for (; !over; pings++) await other.call('ping');
    const { ms } = await flood;
    lock.release();
    // If each of them waited for the lock, it would take twice as long.
    expect(ms).toBeLessThan((refusals * limits.busyTimeoutMs) / 2);
    expect(pings).toBeGreaterThan(1);
    expect(await talk.run('say after')).toBe('completed');
  });

  test('a run in progress waits with its commits, visibly, and completes later with nothing lost', async () => {
    await using daemon = await startWithHeldModel();
    const finishAnswer = daemon.answerNext(streamed(300), 'word20 ');
    const talk = await openTalk(daemon);
    const run = await talk.prompt('many words');
    await talk.until((event) => event.type === 'message_update');
    const lock = holdLock(daemon);
    finishAnswer();
    const { payload } = await talk.until((event) => event.type === 'ui_status');
    expect(payload.params).toMatchObject({ key: 'store', text: expect.stringContaining('locked by another program') });
    expect((await talk.state()).run_state).toBe('running');
    expect(await talk.refused('abort')).toBe('store_busy');
    lock.release();
    expect(await talk.ended(run)).toBe('completed');
    expect((await talk.texts('assistant'))[0]?.split(' ')).toHaveLength(300);
    expect(talk.told(run).filter((type) => type === 'agent_end')).toHaveLength(1);
  });

  test('no tool begins and no model is asked until the store takes what came before', async () => {
    await using daemon = await startWithHeldModel();
    const finishAnswer = daemon.callNext('I look', 'ls', { path: '.' });
    const talk = await openTalk(daemon);
    const run = await talk.prompt('what is here?');
    await talk.until((event) => event.type === 'message_update');
    const lock = holdLock(daemon);
    finishAnswer();
    await talk.until((event) => event.type === 'ui_status');
    expect(await talk.state()).toMatchObject({ tools: [] });
    expect(talk.told(run)).not.toContain('tool_execution_start');
    lock.release();
    expect(await talk.ended(run)).toBe('completed');
  });

  test('SIGTERM is obeyed within 5 s, and the next start settles what was left', async () => {
    await using daemon = await startDaemon({ wps: 500 });
    const talk = await openTalk(daemon);
    const run = await talk.prompt('stream 100000 words');
    await talk.until((event) => event.type === 'message_update');
    await talk.ok('follow_up', { text: 'say later' });
    const lock = holdLock(daemon);
    const from = performance.now();
    expect(await daemon.terminate()).toBe(0);
    expect(performance.now() - from).toBeLessThan(5_000);
    lock.release();
    await daemon.start();
    const again = await openTalk(daemon, talk.session);
    expect(await again.ended(run)).toBe('interrupted');
    expect(await again.state()).toMatchObject({ queue: { paused: true, inputs: [{ text: 'say later' }] } });
    expect((await again.texts('assistant'))[0]).toMatch(/^word1/);
  });

  test('a start that has runs to settle waits for it or is refused with a sentence, and settles them once it can', async () => {
    await using daemon = await startDaemon({ wps: 500 });
    const talk = await openTalk(daemon);
    const run = await talk.prompt('stream 100000 words');
    await talk.until((event) => event.type === 'message_update');
    await daemon.kill9();
    const lock = holdLock(daemon);
    await expect(daemon.start()).rejects.toThrow(/ended with 1: berth: .*another program/);
    lock.release();
    await daemon.start();
    const again = await openTalk(daemon, talk.session);
    expect(await again.ended(run)).toBe('interrupted');
  });
});

test('a reader that stays keeps the WAL from being cut, not the daemon from working; once it is gone the WAL is small again', async () => {
  await using daemon = await startDaemon();
  const talk = await openTalk(daemon);
  const theirs = new Sqlite(join(daemon.paths.stateDir, 'berth.db'), { readonly: true });
  theirs.exec('BEGIN');
  theirs.prepare('SELECT count(*) FROM event').get();
  const walBytes = (): number => statSync(join(daemon.paths.stateDir, 'berth.db-wal')).size;
  const write = async (count: number): Promise<number> => {
    let worst = 0;
    for (let i = 0; i < count; i++) worst = Math.max(worst, (await timed(talk.run(`say ${'x'.repeat(150_000)}`))).ms);
    return worst;
  };
  const other = await daemon.raw();
  const worstPingWhile = async (writing: Promise<unknown>): Promise<number> => {
    let worst = 0;
    let done = false;
    const ended = writing.finally(() => (done = true));
    while (!done) worst = Math.max(worst, (await timed(other.call('ping'))).ms);
    await ended;
    return worst;
  };
  // What the same writes cost on this machine right now, while the WAL is still short.
  const usual = await worstPingWhile(write(8));
  await write(8);
  expect(walBytes()).toBeGreaterThan(limits.walBytesMax);
  expect(await worstPingWhile(write(8))).toBeLessThan(Math.max(300, 3 * usual));
  theirs.exec('COMMIT');
  theirs.close();
  // It is looked at every so many commits, and grows again in between.
  let smallest = Infinity;
  for (let i = 0; i < 6; i++) {
    await write(1);
    smallest = Math.min(smallest, walBytes());
  }
  expect(smallest).toBeLessThanOrEqual(limits.walBytesMax);
});
