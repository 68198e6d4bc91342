import { expect, test } from 'vitest';
import { limits } from '../../src/protocol/limits.js';
import { createTestEngine } from '../support/engine.js';

test('a session that says so is continued after a crash, so many times in a row and no more', async () => {
  await using first = createTestEngine();
  const session = first.session({ recovery: 'continue' });
  first.prompt(session);
  (await first.model.next()).say('half an ans');
  await first.until(session, () => first.engine.live.openIn({ sessionId: session }).find((message) => message.units > 0));
  let berth = first;
  const later: (typeof first)[] = [];
  for (let attempt = 1; attempt <= limits.recoveryAttemptsMax + 1; attempt++) {
    berth = berth.crash();
    later.push(berth);
    berth.engine.recover();
    if (attempt <= limits.recoveryAttemptsMax) {
      const call = await berth.model.next();
      expect(call.request.messages[1]).toMatchObject({ role: 'assistant', content: [{ text: 'half an ans' }] });
    }
  }
  expect(berth.store.load(session)).toMatchObject({ run: null, paused: true, lastRun: { outcome: 'interrupted' } });
  expect(berth.store.runs.page(session, undefined, 99).runs).toHaveLength(limits.recoveryAttemptsMax + 1);
  for (const engine of later) await engine[Symbol.asyncDispose]();
});

test('one that completes after a crash begins its count anew', async () => {
  await using berth = createTestEngine();
  const session = berth.session({ recovery: 'continue' });
  berth.prompt(session);
  await berth.model.next();
  await using after = berth.crash();
  after.engine.recover();
  (await after.model.next()).say('done').end();
  await after.idle(session);
  after.prompt(session, 'again');
  await after.model.next();
  await using last = after.crash();
  last.engine.recover();
  (await last.model.next()).say('done again').end();
  await last.idle(session);
  expect(last.store.load(session)?.lastRun?.outcome).toBe('completed');
  expect(last.history(session)).toEqual(['user: go', 'assistant: done', 'user: again', 'assistant: done again']);
});

test('a session is at rest after a crash unless it said otherwise, and its queue is kept, paused', async () => {
  await using berth = createTestEngine();
  const session = berth.session();
  berth.prompt(session);
  (await berth.model.next()).begin();
  await berth.until(session, () => berth.store.runs.active(session)?.message ?? undefined);
  berth.submit(session, 'follow_up', 'kept');
  await using after = berth.crash();
  expect(after.engine.recover()).toMatchObject({ settled: 1, parked: 0 });
  expect(after.told(session).slice(-4)).toEqual([
    'message_end assistant discarded interrupted',
    'turn_end 1',
    'queue_update paused',
    'agent_end interrupted',
  ]);
  expect(after.store.load(session)).toMatchObject({ run: null, paused: true, inputs: [{ text: 'kept' }] });
  expect(after.engine.recover()).toMatchObject({ settled: 0, parked: 0 });
});
