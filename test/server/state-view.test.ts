import { describe, expect, test } from 'vitest';
import { viewOf } from '../../src/view/session-view.js';
import { askCompaction } from '../../src/core/compaction.js';
import { updateQueued } from '../../src/core/inputs.js';
import type { StateView } from '../../src/protocol/views.js';
import { createClients } from '../../src/server/clients.js';
import { createStateView } from '../../src/server/state-view.js';
import { createAskUserTool } from '../../src/tools/talk/ask-user.js';
import { createTestEngine, type TestEngine } from '../support/engine.js';
import { createGate } from '../support/gate-tool.js';

/** What get_state tells of a session, after it went over the wire. */
function stateOf(berth: TestEngine, session: string): StateView {
  const view = createStateView(berth.engine, createClients({ onChange: () => undefined }));
  return JSON.parse(JSON.stringify(view(berth.store.load(session)))) as StateView;
}

/** A client that comes now has the daemon's own state, all of it. */
function expectWhole(berth: TestEngine, session: string): StateView {
  const state = stateOf(berth, session);
  expect(viewOf({ seq: state.seq, state, messages: [], has_more: false }).state).toEqual(berth.store.load(session));
  return state;
}

const usage = { input: 5, output: 2, cache_read: 0, cache_write: 0, cost_usd: null };

describe('a client that comes in the middle of a run has the state of the daemon', () => {
  test('while a message is being said, with a queue', async () => {
    await using berth = createTestEngine();
    const session = berth.session();
    berth.prompt(session, 'first');
    (await berth.model.next()).say('x').end('stop', usage);
    await berth.idle(session);
    berth.prompt(session, 'second');
    expectWhole(berth, session);
    const call = await berth.model.next();
    call.say('half');
    await berth.until(session, () => berth.store.load(session)?.run?.message ?? undefined);
    berth.submit(session, 'steer', 'look', { id: 'inp_1', content: [{ type: 'image', data: 'AA==', mime_type: 'image/png' }] });
    berth.engine.commit.decide(session, (state, fresh) => updateQueued(state, { inputId: 'inp_1', revision: 1, hold: true }, fresh));
    const { run, queue } = expectWhole(berth, session);
    expect(run).toMatchObject({ turns: 1, turn: { turn_id: '1', kind: 'prompt', responded: false, calls_made: 0 }, usage_before: usage });
    expect(queue.inputs).toMatchObject([{ text: 'look', hold: true, images: [{ mime_type: 'image/png', bytes: 1 }] }]);
    berth.abort(session);
    expectWhole(berth, session);
  });

  test('while calls run, wait for a person and for each other, and after a restart', async () => {
    const looking = createGate('looking', { readOnly: true });
    const tools = [looking.tool, createGate('acting', { approval: true }).tool, createAskUserTool()];
    await using berth = createTestEngine({ tools });
    const session = berth.session();
    berth.prompt(session);
    (await berth.model.next())
      .call('looking', { key: 'a' }, 'c1')
      .call('acting', { key: 'b' }, 'c2')
      .call('ask_user', {}, 'c3')
      .call('x', '{', 'c4')
      .end();
    await looking.arrive(1);
    expect(expectWhole(berth, session).run?.calls).toMatchObject([
      { tool_call_id: 'c1', place: 0, started: true, title: 'looking a', waits_for: null },
      { tool_call_id: 'c2', place: 1, started: false, title: null, waits_for: { kind: 'calls' } },
      { tool_call_id: 'c3', waits_for: { kind: 'calls' } },
      { tool_call_id: 'c4', problem: expect.any(String) as string, waits_for: { kind: 'calls' } },
    ]);
    looking.open('a');
    const request_id = await berth.asked(session);
    const waiting = expectWhole(berth, session);
    expect(waiting.run?.calls[0]).toMatchObject({ tool_call_id: 'c2', waits_for: { kind: 'approval', request_id } });
    await using other = berth.crash();
    other.engine.recover();
    expect(stateOf(other, session).run).toEqual(waiting.run);
    expectWhole(other, session);
  });

  test('while it asks a question', async () => {
    await using berth = createTestEngine({ tools: [createAskUserTool()] });
    const session = berth.session();
    berth.prompt(session);
    (await berth.model.next()).call('ask_user', { method: 'confirm', title: 'Sure?' }, 'c1').end();
    const request_id = await berth.asked(session);
    const { run, tools } = expectWhole(berth, session);
    expect(run?.calls).toMatchObject([{ started: true, waits_for: { kind: 'question', request_id } }]);
    expect(tools).toMatchObject([{ tool_call_id: 'c1', title: run?.calls[0]?.title }]);
  });

  test('while it waits for a slot, and for a summary that was asked for', async () => {
    await using berth = createTestEngine({ runsAtOnceMax: 1 });
    const [busy, session] = [berth.session(), berth.session()];
    berth.prompt(busy);
    berth.prompt(session);
    const call = await berth.model.next();
    const wanted = { trigger: 'manual' as const, tokensBefore: 9, instruction: 'keep the names' };
    berth.engine.commit.decide(session, (state, fresh) => askCompaction(state, wanted, fresh));
    expect(expectWhole(berth, busy).run?.waits_for_slot).toBe(false);
    const { run, compaction } = expectWhole(berth, session);
    expect(run?.waits_for_slot).toBe(true);
    expect(compaction).toEqual({ trigger: 'manual', tokens_before: 9, instruction: 'keep the names' });
    berth.abort(session);
    await berth.idle(session);
    call.end();
    await berth.idle(busy);
  });
});

describe('the state tells how the last run ended and what can be done about it', () => {
  test.each(['completed', 'failed', 'interrupted'] as const)('%s', async (outcome) => {
    await using berth = createTestEngine();
    const session = berth.session();
    berth.prompt(session);
    const call = await berth.model.next();
    expect(stateOf(berth, session).last_run).toBeNull();
    if (outcome === 'completed') call.say('x').end();
    if (outcome === 'failed') call.fail('the key is wrong');
    if (outcome !== 'interrupted') await berth.idle(session);
    await using other = berth.crash();
    other.engine.recover();
    const { last_run, run } = expectWhole(other, session);
    const error = outcome === 'failed' ? { message: 'the key is wrong' } : null;
    const resume_actions = outcome === 'completed' ? ['retry', 'abandon'] : ['retry', 'continue', 'abandon'];
    expect(run).toBeNull();
    expect(last_run).toMatchObject({ outcome, error, resume_actions });
  });
});

test('arguments that are too long for a line are shown empty', async () => {
  const gate = createGate('gate');
  await using berth = createTestEngine({ tools: [gate.tool] });
  const session = berth.session();
  berth.prompt(session);
  const call = await berth.model.next();
  for (let i = 0; i < 6; i++) call.call('gate', { key: `${i}`, text: 'x'.repeat(200_000) });
  call.end();
  await gate.arrive(1);
  const { run } = stateOf(berth, session);
  expect(run?.calls.map(({ args }) => args.key)).toEqual(['0', '1', '2', '3', '4', undefined]);
  berth.abort(session);
  await berth.idle(session);
});
