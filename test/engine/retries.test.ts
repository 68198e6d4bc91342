import { describe, expect, test } from 'vitest';
import { createTestEngine, type TestEngine } from '../support/engine.js';

const passing = { message: 'overloaded', retry: {} };

function retries(berth: TestEngine, session: string): unknown[] {
  return berth
    .events(session)
    .flatMap((event) => (event.type === 'error' && event.payload.retry_in_ms !== undefined ? [event.payload] : []));
}

describe('a failure that may pass', () => {
  test('is told with the time of the next attempt, and the broken message is discarded, never doubled', async () => {
    await using berth = createTestEngine();
    const session = berth.session();
    berth.prompt(session);
    (await berth.model.next()).say('half an ans').failWith({ ...passing, cause: 'HTTP 529' });
    (await berth.model.next()).say('a whole answer').end();
    await berth.idle(session);
    expect(berth.history(session)).toEqual(['user: go', 'assistant: a whole answer']);
    expect(retries(berth, session)).toMatchObject([
      { message: 'overloaded', cause: 'HTTP 529', attempt: 1, attempts_max: 3, turn_id: '1' },
    ]);
    const ends = berth.events(session).flatMap((event) => (event.type === 'message_end' ? [event.payload] : []));
    expect(ends.map(({ discarded, reason }) => [discarded, reason])).toEqual([
      [undefined, undefined],
      [true, 'retried'],
      [undefined, undefined],
    ]);
    expect(new Set(ends.map(({ message_id }) => message_id)).size).toBe(3);
    expect(berth.engine.live.openIn({ sessionId: session })).toEqual([]);
  });

  test('is asked for again so many times and no more; then the run fails and the session works', async () => {
    await using berth = createTestEngine();
    const session = berth.session();
    berth.prompt(session);
    for (let i = 0; i < 3; i++) (await berth.model.next()).failWith(passing);
    await berth.idle(session);
    expect(retries(berth, session)).toHaveLength(2);
    expect(berth.store.load(session)?.lastRun).toMatchObject({
      outcome: 'failed',
      error: { message: 'overloaded; gave up after 3 attempts' },
    });
    berth.prompt(session, 'again');
    (await berth.model.next()).say('fine').end();
    await berth.idle(session);
    expect(berth.history(session).at(-1)).toBe('assistant: fine');
  });

  test('that more asking will hardly mend is asked for once more only; what both used up is counted', async () => {
    await using berth = createTestEngine();
    berth.model.known = { contextWindow: null, maxOutput: null, price: { input: 1, output: 0, cache_read: 0, cache_write: 0 } };
    const session = berth.session();
    berth.prompt(session);
    const usage = { input: 10, output: 1, cache_read: 0, cache_write: 0, cost_usd: null };
    for (let i = 0; i < 2; i++) (await berth.model.next()).failWith({ message: 'empty', retry: { once: true }, usage });
    await berth.idle(session);
    expect(retries(berth, session)).toMatchObject([{ message: 'empty', attempt: 1, attempts_max: 2 }]);
    expect(berth.store.load(session)).toMatchObject({
      lastRun: { outcome: 'failed', error: { message: 'empty; gave up after 2 attempts' } },
      usage: { input: 20, output: 2, cost_usd: 0.00002 },
    });
  });

  test('a stream that just ends is one', async () => {
    await using berth = createTestEngine();
    const session = berth.session();
    berth.prompt(session);
    (await berth.model.next()).say('half').cut();
    (await berth.model.next()).say('whole').end();
    await berth.idle(session);
    expect(berth.history(session)).toEqual(['user: go', 'assistant: whole']);
  });

  test('calls of a broken message never run', async () => {
    await using berth = createTestEngine();
    const session = berth.session();
    berth.prompt(session);
    (await berth.model.next()).call('echo', '{"text":"half').failWith(passing);
    (await berth.model.next()).say('no calls').end();
    await berth.idle(session);
    expect(berth.told(session).filter((told) => told.startsWith('tool_'))).toEqual([]);
  });

  test('is waited for as long as the provider asks, within reason', async () => {
    await using berth = createTestEngine();
    const session = berth.session();
    berth.prompt(session);
    (await berth.model.next()).failWith({ message: 'slow down', retry: { afterMs: 40 } });
    (await berth.model.next()).failWith({ message: 'come back tomorrow', retry: { afterMs: 86_400_000 } });
    await berth.idle(session);
    const [first] = retries(berth, session) as { retry_in_ms: number }[];
    expect(first?.retry_in_ms).toBeGreaterThanOrEqual(40);
    expect(retries(berth, session)).toHaveLength(1);
    expect(berth.store.load(session)?.lastRun?.error?.message).toBe(
      'come back tomorrow; gave up after 2 attempts; the provider says to retry after 24 h',
    );
  });

  test('can be aborted while it is waited for, and gives its slot to others meanwhile', async () => {
    await using berth = createTestEngine({ runsAtOnceMax: 1, models: { retries: () => ({ attemptsMax: 3, minMs: 60_000 }) } });
    const waiting = berth.session();
    const other = berth.session();
    berth.prompt(waiting);
    (await berth.model.next()).say('half').failWith(passing);
    await berth.until(waiting, () => berth.engine.signals.shown(waiting).status.model);
    expect(berth.engine.signals.shown(waiting).status.model).toMatch(/^overloaded; retrying at 2026-11-16T.* \(attempt 1 of 3 failed\)$/);
    berth.prompt(other);
    (await berth.model.next()).say('me first').end();
    await berth.idle(other);
    berth.abort(waiting);
    await berth.idle(waiting);
    expect(berth.store.load(waiting)?.lastRun?.outcome).toBe('aborted');
    expect(berth.engine.signals.shown(waiting).status).toEqual({});
    expect(berth.told(waiting).filter((told) => told.startsWith('agent_'))).toEqual(['agent_start', 'agent_end aborted']);
  });

  test('steers and follow-ups that are sent while it is waited for are kept and run', async () => {
    await using berth = createTestEngine();
    const session = berth.session();
    berth.prompt(session);
    const call = await berth.model.next();
    berth.submit(session, 'steer', 'left');
    berth.submit(session, 'follow_up', 'later');
    call.failWith(passing);
    (await berth.model.next()).say('one').end();
    (await berth.model.next()).say('two').end();
    (await berth.model.next()).say('three').end();
    await berth.idle(session);
    expect(berth.history(session)).toEqual([
      'user: go',
      'assistant: one',
      'user: left',
      'assistant: two',
      'user: later',
      'assistant: three',
    ]);
  });
});

test('a failure that will not pass is not tried again', async () => {
  await using berth = createTestEngine();
  const session = berth.session();
  berth.prompt(session);
  (await berth.model.next()).failWith({ message: 'bad key', cause: 'HTTP 401' });
  await berth.idle(session);
  expect(retries(berth, session)).toEqual([]);
  expect(berth.store.load(session)?.lastRun?.error).toEqual({ code: 'provider_error', message: 'bad key', cause: 'HTTP 401' });
});

test('an answer that reached its length says so', async () => {
  await using berth = createTestEngine();
  const session = berth.session();
  berth.prompt(session);
  (await berth.model.next()).say('and so on and').call('echo', '{"text":"cu').end('length');
  await berth.idle(session);
  expect(berth.told(session)).toContain('warning');
  expect(berth.told(session).filter((told) => told.startsWith('tool_'))).toEqual([]);
});

test('a system prompt that cannot be read fails the run and says which', async () => {
  await using berth = createTestEngine({ models: { systemPrompt: () => ({ problem: 'system_prompt_path: no such file' }) } });
  const session = berth.session();
  berth.prompt(session);
  await berth.idle(session);
  expect(berth.store.load(session)?.lastRun?.error?.message).toBe('system_prompt_path: no such file');
  expect(berth.model.asked).toEqual([]);
});

test('the usage of a run is its own, and the session keeps the sum', async () => {
  await using berth = createTestEngine();
  berth.model.known = { contextWindow: 1_000, maxOutput: null, price: { input: 1, output: 2, cache_read: 0.5, cache_write: 3 } };
  const session = berth.session();
  const usage = { input: 100, output: 50, cache_read: 40, cache_write: 10, cost_usd: null };
  for (const text of ['a', 'b']) {
    berth.prompt(session, text);
    (await berth.model.next()).say('x').end('stop', usage);
    await berth.idle(session);
  }
  const cost = (100 + 2 * 50 + 0.5 * 40 + 3 * 10) / 1e6;
  const ends = berth.events(session).flatMap((event) => (event.type === 'agent_end' ? [event.payload.usage] : []));
  expect(ends).toEqual([
    { ...usage, cost_usd: cost },
    { ...usage, cost_usd: cost },
  ]);
  expect(berth.store.load(session)).toMatchObject({ usage: { input: 200, cost_usd: 2 * cost }, contextLeftPercent: 80 });
});

test('numbers of tokens that cannot be are not believed', async () => {
  await using berth = createTestEngine();
  const session = berth.session();
  berth.prompt(session);
  (await berth.model.next()).say('x').end('stop', { input: -5, output: 1e300, cache_read: NaN, cache_write: 1.4, cost_usd: null });
  await berth.idle(session);
  expect(berth.store.load(session)?.usage).toEqual({ input: 0, output: 0, cache_read: 0, cache_write: 1, cost_usd: null });
});

test('what is left of the window is estimated where a provider does not count what it was asked', async () => {
  await using berth = createTestEngine();
  berth.model.known = { contextWindow: 1_000, maxOutput: null, price: null };
  const session = berth.session();
  berth.prompt(session, 'x'.repeat(2_000));
  (await berth.model.next()).say('short').end('stop', { input: 0, output: 1, cache_read: 0, cache_write: 0, cost_usd: null });
  await berth.idle(session);
  expect(berth.store.load(session)?.contextLeftPercent).toBeLessThan(60);
});
