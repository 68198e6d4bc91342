import { describe, expect, test } from 'vitest';
import { askCompaction } from '../../src/core/compaction.js';
import { textOf } from '../../src/protocol/content.js';
import type { ModelRequest } from '../../src/providers/port.js';
import { createEchoTool } from '../../src/providers/offline/echo.js';
import { createTestEngine, type TestEngine } from '../support/engine.js';

const window = { contextWindow: 10_000, maxOutput: null, price: null };

function compact(berth: TestEngine, session: string, instruction: string | null = null): void {
  const outcome = berth.engine.commit.decide(session, (state, fresh) =>
    askCompaction(state, { trigger: 'manual', tokensBefore: 1_000, instruction }, fresh),
  );
  if (!outcome.ok) throw new Error(outcome.refusal.message);
}

async function talk(berth: TestEngine, session: string, ...texts: string[]): Promise<void> {
  for (const text of texts) {
    berth.prompt(session, text);
    (await berth.model.next()).say(`answer to ${text}`).end('stop', usage(10));
    await berth.idle(session);
  }
}

/** A summary that is aborted, and one during which something is sent. */
async function talkPast(berth: TestEngine, session: string): Promise<void> {
  const state = berth.store.load(session);
  berth.submit(session, 'prompt', 'three');
  const call = await berth.model.next();
  berth.abort(session, true);
  await berth.idle(session);
  call.cut();
  compact(berth, session);
  await berth.model.next();
  berth.abort(session);
  await berth.idle(session);
  expect(berth.store.load(session)).toMatchObject({ paused: true, inputs: state?.inputs.map(({ text }) => ({ text })) });
  compact(berth, session);
  const summary = await berth.model.next();
  berth.submit(session, 'steer', 'now');
  summary.say('shorter').end();
  (await berth.model.next()).say('a').end();
  (await berth.model.next()).say('b').end();
  await berth.idle(session);
  expect(berth.history(session).slice(-4)).toEqual(['user: now', 'assistant: a', 'user: waits', 'assistant: b']);
}

function usage(input: number) {
  return { input, output: 5, cache_read: 0, cache_write: 0, cost_usd: null };
}

function said(request: ModelRequest): string[] {
  return request.messages.map(({ role, content }) => `${role}: ${textOf(content)}`);
}

function ends(berth: TestEngine, session: string) {
  return berth.events(session).flatMap((event) => (event.type === 'compaction_end' ? [event.payload] : []));
}

describe('a summary that somebody asks for', () => {
  test('stands for what came before the last message of a person; nothing is deleted', async () => {
    await using berth = createTestEngine();
    const session = berth.session();
    await talk(berth, session, 'one', 'two', 'three');
    compact(berth, session, 'mind the boats');
    const call = await berth.model.next();
    expect(call.request).toMatchObject({ tools: [], system: 'Summarise.', thinking: 'off' });
    const [asked = ''] = said(call.request);
    expect(asked).toContain('[person]\none');
    expect(asked).toContain('answer to two');
    expect(asked).not.toContain('three');
    expect(asked).toContain('mind the boats');
    call.say('They counted.').end('stop', usage(100));
    await berth.idle(session);
    const [end] = ends(berth, session);
    const kept = berth.events(session).findLast((event) => event.type === 'message_end' && event.payload.message?.text === 'three');
    expect(end).toMatchObject({
      trigger: 'manual',
      summary: 'They counted.',
      first_kept_entry_id: kept?.type === 'message_end' ? kept.payload.message_id : '',
      message: { role: 'compaction', text: 'They counted.' },
    });
    berth.prompt(session, 'four');
    const next = await berth.model.next();
    expect(said(next.request)).toEqual([
      expect.stringContaining('They counted.'),
      'user: three',
      'assistant: answer to three',
      'user: four',
    ]);
    next.say('answer').end();
    await berth.idle(session);
    const page = berth.store.entries.page({ leafId: berth.store.load(session)?.leafId ?? null, limit: 100 });
    const roles = page.messages.map(({ id }) => berth.store.entries.find(id)?.role);
    expect(roles.join()).toBe('user,assistant,user,assistant,user,assistant,compaction,user,assistant');
    expect(berth.store.load(session)?.usage?.input).toBe(130);
  });

  test('is a run without a turn: it leaves what can be resumed as it was', async () => {
    await using berth = createTestEngine();
    const session = berth.session();
    await talk(berth, session, 'one', 'two');
    const before = berth.store.load(session)?.lastRun;
    compact(berth, session);
    (await berth.model.next()).say('short').end();
    await berth.idle(session);
    expect(berth.told(session).slice(-4)).toEqual(['agent_start', 'compaction_start', 'compaction_end', 'agent_end completed']);
    expect(berth.store.load(session)?.lastRun).toEqual(before);
  });

  test('what is sent meanwhile is neither refused nor lost, and runs afterwards', async () => {
    await using berth = createTestEngine();
    const session = berth.session();
    await talk(berth, session, 'one', 'two');
    compact(berth, session);
    const call = await berth.model.next();
    expect(berth.submit(session, 'steer', 'steered').ok).toBe(true);
    expect(berth.submit(session, 'follow_up', 'followed').ok).toBe(true);
    call.say('short').end();
    (await berth.model.next()).say('a').end();
    (await berth.model.next()).say('b').end();
    await berth.idle(session);
    expect(berth.history(session)).toEqual([
      'compaction: short',
      'user: two',
      'assistant: answer to two',
      'user: steered',
      'assistant: a',
      'user: followed',
      'assistant: b',
    ]);
    expect(berth.told(session).filter((told) => told.startsWith('agent_')).length).toBe(6);
  });

  test('of a run in progress is made at its next boundary, and the run goes on', async () => {
    await using berth = createTestEngine({ tools: [createEchoTool()] });
    const session = berth.session();
    await talk(berth, session, 'one', 'two');
    berth.prompt(session, 'three');
    const call = await berth.model.next();
    compact(berth, session);
    call.call('echo', { text: 'hi' }, 'c1').end();
    const summary = await berth.model.next();
    expect(summary.request.system).toBe('Summarise.');
    summary.say('short').end();
    const after = await berth.model.next();
    expect(said(after.request)).toEqual([expect.stringContaining('short'), 'user: three', 'assistant: ', 'tool_result: hi']);
    after.say('done').end();
    await berth.idle(session);
    expect(berth.store.load(session)?.lastRun?.outcome).toBe('completed');
  });

  test('of a run that ends with this turn is made before it ends', async () => {
    await using berth = createTestEngine();
    const session = berth.session();
    await talk(berth, session, 'one', 'two');
    berth.prompt(session, 'three');
    const call = await berth.model.next();
    compact(berth, session);
    call.say('last').end();
    (await berth.model.next()).say('short').end();
    await berth.idle(session);
    expect(berth.told(session).slice(-3)).toEqual(['turn_end 1', 'compaction_end', 'agent_end completed']);
  });

  test('can be aborted, and then nothing has changed', async () => {
    await using berth = createTestEngine();
    const session = berth.session();
    await talk(berth, session, 'one', 'two');
    const leaf = berth.store.load(session)?.leafId;
    compact(berth, session);
    (await berth.model.next()).say('sho');
    berth.abort(session);
    await berth.idle(session);
    expect(ends(berth, session)).toMatchObject([{ error: { message: 'the run was aborted' } }]);
    expect(berth.store.load(session)).toMatchObject({ leafId: leaf, compaction: null });
    await talk(berth, session, 'three');
  });

  test('that fails changes nothing and says why', async () => {
    await using berth = createTestEngine();
    const session = berth.session();
    await talk(berth, session, 'one', 'two');
    compact(berth, session);
    (await berth.model.next()).fail('no quota');
    await berth.idle(session);
    expect(ends(berth, session)).toMatchObject([{ error: { code: 'provider_error', message: 'no quota' } }]);
    expect(berth.history(session)[0]).toBe('user: one');
    expect(berth.store.load(session)?.paused).toBe(false);
  });

  test('that is longer than what it would replace is not kept, is told with both sizes, and its cost is counted', async () => {
    await using berth = createTestEngine();
    const session = berth.session();
    await talk(berth, session, 'one', 'two');
    const before = berth.history(session);
    compact(berth, session);
    (await berth.model.next()).say('word '.repeat(100)).end('stop', usage(100));
    await berth.idle(session);
    expect(berth.history(session)).toEqual(before);
    const cause = expect.stringMatching(/longer \(about 1\d\d tokens\) than the messages that it replaces \(about \d\d\)/);
    expect(ends(berth, session)).toMatchObject([{ error: { message: 'nothing_to_compact', cause } }]);
    expect(berth.store.load(session)?.usage?.input).toBe(120);
  });

  test('that was cut by the length of an answer is none', async () => {
    await using berth = createTestEngine();
    const session = berth.session();
    await talk(berth, session, 'one', 'two');
    compact(berth, session);
    (await berth.model.next()).say('## Goal: to').end('length');
    await berth.idle(session);
    expect(ends(berth, session)).toMatchObject([{ error: { message: expect.stringContaining('was truncated') } }]);
    expect(berth.history(session)[0]).toBe('user: one');
  });

  test('is joined by who asks for the same meanwhile, and not by who asks for another', async () => {
    await using berth = createTestEngine();
    const session = berth.session();
    await talk(berth, session, 'one', 'two');
    compact(berth, session, 'boats');
    compact(berth, session, 'boats');
    compact(berth, session);
    expect(() => compact(berth, session, 'fish')).toThrow('run_in_progress');
    (await berth.model.next()).say('short').end();
    await berth.idle(session);
    expect(ends(berth, session)).toHaveLength(1);
  });

  test('that was under way when the daemon died is closed by the next one', async () => {
    await using berth = createTestEngine();
    const session = berth.session();
    await talk(berth, session, 'one', 'two');
    compact(berth, session);
    (await berth.model.next()).say('sho');
    await using again = berth.crash();
    again.engine.recover();
    expect(again.store.load(session)).toMatchObject({ compaction: null, run: null, lastRun: { outcome: 'completed' } });
    expect(ends(again, session)).toMatchObject([{ error: { message: 'the run was interrupted' } }]);
    berth.abort(session);
    await berth.idle(session);
  });

  test('leaves a paused queue alone, and so does its abort; what is sent meanwhile goes on with it', async () => {
    await using berth = createTestEngine();
    const session = berth.session();
    await talk(berth, session, 'one');
    berth.prompt(session, 'two');
    const failing = await berth.model.next();
    berth.submit(session, 'follow_up', 'waits');
    failing.fail('no');
    await berth.idle(session);
    compact(berth, session);
    (await berth.model.next()).say('short').end();
    await berth.idle(session);
    expect(berth.store.load(session)).toMatchObject({ paused: true, inputs: [{ text: 'waits' }], lastRun: { outcome: 'failed' } });
    await talkPast(berth, session);
  });

  test('takes the summary before it into itself', async () => {
    await using berth = createTestEngine();
    const session = berth.session();
    await talk(berth, session, 'one', 'two');
    compact(berth, session);
    (await berth.model.next()).say('first summary').end();
    await berth.idle(session);
    await talk(berth, session, 'three');
    compact(berth, session);
    const call = await berth.model.next();
    expect(said(call.request)[0]).toMatch(/first summary[\s\S]*\[person\]\ntwo/);
    expect(said(call.request)[0]).not.toContain('[person]\none');
    call.say('second summary').end();
    await berth.idle(session);
    expect(berth.history(session)).toEqual(['compaction: second summary', 'user: three', 'assistant: answer to three']);
  });
});

describe('a window that fills', () => {
  test('is made room in before the model is asked, once, and the run goes on', async () => {
    await using berth = createTestEngine();
    berth.model.known = window;
    const session = berth.session();
    const long = 'x'.repeat(6_000);
    for (const text of ['one', 'two']) {
      berth.prompt(session, text + long);
      (await berth.model.next()).say(long).end('stop', usage(3_000));
      await berth.idle(session);
    }
    berth.prompt(session, 'three');
    (await berth.model.next()).say('big').end('stop', usage(8_800));
    await berth.idle(session);
    expect(berth.store.load(session)?.contextLeftPercent).toBe(11);
    berth.prompt(session, 'four');
    const summary = await berth.model.next();
    expect(summary.request.system).toBe('Summarise.');
    summary.say('short').end('stop', usage(50));
    const call = await berth.model.next();
    expect(said(call.request)[0]).toContain('short');
    expect(said(call.request).at(-1)).toBe('user: four');
    call.say('fine').end('stop', usage(9_000));
    await berth.idle(session);
    expect(ends(berth, session)).toMatchObject([{ trigger: 'threshold', tokens_before: expect.any(Number) }]);
    expect(berth.store.load(session)?.lastRun?.outcome).toBe('completed');
  });

  test('is left alone when that is wanted', async () => {
    await using berth = createTestEngine({ models: { compactAtPercent: () => undefined } });
    berth.model.known = window;
    const session = berth.session();
    await talk(berth, session, `one${'x'.repeat(30_000)}`, `two${'x'.repeat(30_000)}`);
    expect(berth.told(session)).not.toContain('compaction_start');
  });

  test('goes on without a summary that would be longer, and does not ask for another in that run', async () => {
    await using berth = createTestEngine({ tools: [createEchoTool()] });
    berth.model.known = window;
    const session = berth.session();
    await talk(berth, session, `one${'x'.repeat(20_000)}`);
    berth.prompt(session, `two${'x'.repeat(36_000)}`);
    (await berth.model.next()).say('word '.repeat(10_000)).end();
    const call = await berth.model.next();
    expect(call.request.system).toBe('You are a test.');
    call.call('echo', { text: 'hi' }).end();
    (await berth.model.next()).say('done').end();
    await berth.idle(session);
    expect(ends(berth, session)).toHaveLength(1);
    expect(berth.store.load(session)?.lastRun?.outcome).toBe('completed');
  });

  test('goes on without a summary when none can be made, and does not ask again in that run', async () => {
    await using berth = createTestEngine({ tools: [createEchoTool()] });
    berth.model.known = window;
    const session = berth.session();
    await talk(berth, session, `one${'x'.repeat(20_000)}`);
    berth.prompt(session, `two${'x'.repeat(36_000)}`);
    (await berth.model.next()).fail('no');
    const call = await berth.model.next();
    expect(call.request.system).toBe('You are a test.');
    call.call('echo', { text: 'hi' }).end();
    (await berth.model.next()).say('done').end();
    await berth.idle(session);
    expect(ends(berth, session)).toHaveLength(1);
    expect(berth.store.load(session)?.lastRun?.outcome).toBe('completed');
  });
});

describe('a request that was too long', () => {
  const tooLong = { message: 'too long', overflow: true as const };

  test('is made shorter and asked again, once', async () => {
    await using berth = createTestEngine();
    const session = berth.session();
    await talk(berth, session, 'one', 'two');
    berth.prompt(session, 'three');
    (await berth.model.next()).say('half').failWith(tooLong);
    (await berth.model.next()).say('short').end();
    const again = await berth.model.next();
    expect(said(again.request)).toEqual([expect.stringContaining('short'), 'user: three']);
    again.say('fits').end();
    await berth.idle(session);
    expect(berth.history(session)).toEqual(['compaction: short', 'user: three', 'assistant: fits']);
  });

  test('that is too long all the same fails the run, and the session works with something shorter', async () => {
    await using berth = createTestEngine();
    const session = berth.session();
    await talk(berth, session, 'one', 'two');
    berth.prompt(session, 'three');
    (await berth.model.next()).failWith(tooLong);
    (await berth.model.next()).say('short').end();
    (await berth.model.next()).failWith(tooLong);
    await berth.idle(session);
    const message = 'too long; go on in a new session, or with a model that has a larger context window';
    expect(berth.store.load(session)?.lastRun).toMatchObject({ outcome: 'failed', error: { message } });
    await talk(berth, session, 'four');
  });

  test('with nothing to shorten fails the run', async () => {
    await using berth = createTestEngine();
    const session = berth.session();
    berth.prompt(session, 'one');
    (await berth.model.next()).failWith(tooLong);
    await berth.idle(session);
    expect(berth.store.load(session)?.lastRun?.outcome).toBe('failed');
    expect(berth.told(session)).not.toContain('compaction_start');
  });

  test('of which the record is too long as well is summarised from a part of it', async () => {
    await using berth = createTestEngine();
    const session = berth.session();
    await talk(berth, session, 'one', 'two', 'three', 'four');
    compact(berth, session);
    const whole = await berth.model.next();
    whole.failWith(tooLong);
    const part = await berth.model.next();
    expect(said(part.request)[0]?.length).toBeLessThan(said(whole.request)[0]?.length ?? 0);
    expect(said(part.request)[0]).toContain('was left out');
    part.say('short').end();
    await berth.idle(session);
    expect(berth.history(session)[0]).toBe('compaction: short');
  });
});

describe('a summary in a long turn', () => {
  test('never parts a call from its result', async () => {
    await using berth = createTestEngine({ tools: [createEchoTool()] });
    berth.model.known = window;
    const session = berth.session();
    berth.prompt(session, 'go');
    const long = 'y'.repeat(5_000);
    for (let i = 0; i < 8; i++) {
      const call = await berth.model.next();
      if (call.request.system === 'Summarise.') {
        call.say('so far').end();
        continue;
      }
      const calls = call.request.messages.flatMap(({ content }) => content.filter(({ type }) => type === 'tool_call')).length;
      const results = call.request.messages.filter(({ role }) => role === 'tool_result').length;
      expect(results).toBe(calls);
      call.call('echo', { text: `a${i}${long}` }).call('echo', { text: `b${i}` });
      call.end();
    }
    berth.abort(session);
    await berth.idle(session);
    expect(ends(berth, session).length).toBeGreaterThan(0);
  });

  test('drops thoughts that were bound to what it replaced', async () => {
    await using berth = createTestEngine();
    const session = berth.session();
    await talk(berth, session, 'one');
    berth.prompt(session, 'two');
    (await berth.model.next()).think('hm', 0, 'signed').say('x', 1).end();
    await berth.idle(session);
    compact(berth, session);
    (await berth.model.next()).say('short').end();
    await berth.idle(session);
    berth.prompt(session, 'three');
    const call = await berth.model.next();
    expect(call.request.messages.flatMap(({ content }) => content.map(({ type }) => type))).not.toContain('thinking');
    call.think('new', 0, 'signed too').say('y', 1).end();
    await berth.idle(session);
    berth.prompt(session, 'four');
    const next = await berth.model.next();
    expect(next.request.messages.flatMap(({ content }) => content.map(({ type }) => type))).toContain('thinking');
    next.end();
    await berth.idle(session);
  });
});
