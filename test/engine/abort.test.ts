import { describe, expect, test } from 'vitest';
import { deleteSession } from '../../src/core/settings.js';
import { createAskUserTool } from '../../src/tools/talk/ask-user.js';
import { createTestEngine, type TestEngine } from '../support/engine.js';
import { createGate } from '../support/gate-tool.js';

function outcomes(berth: TestEngine, session: string): string[] {
  return berth.told(session).filter((words) => words.startsWith('agent_end'));
}

/** What a strict provider accepts: after a message with calls, one result for each of them, and nothing in between. */
function expectStrictHistory(berth: TestEngine, session: string): void {
  const { leafId } = berth.store.load(session) ?? { leafId: null };
  let open: string[] = [];
  for (const { message, content } of berth.store.entries.history(leafId)) {
    if (message.role === 'tool_result') {
      expect(open).toContain(message.tool_call_id);
      open = open.filter((id) => id !== message.tool_call_id);
      continue;
    }
    expect(open).toEqual([]);
    open = content.flatMap((block) => (block.type === 'tool_call' ? [block.id] : []));
  }
  expect(open).toEqual([]);
}

describe('an abort', () => {
  test('before the first byte ends the run, and nothing is left of the answer', async () => {
    await using berth = createTestEngine();
    const session = berth.session();
    berth.prompt(session);
    const call = await berth.model.next();
    berth.abort(session);
    await berth.idle(session);
    expect(call.signal.aborted).toBe(true);
    expect(berth.told(session).slice(-3)).toEqual(['status', 'turn_end 1', 'agent_end aborted']);
    expect(berth.history(session)).toEqual(['user: go']);
  });

  test('after the response began and before its first word discards the message', async () => {
    await using berth = createTestEngine();
    const session = berth.session();
    berth.prompt(session);
    (await berth.model.next()).begin();
    await berth.until(session, () => berth.store.runs.active(session)?.message ?? undefined);
    berth.abort(session);
    await berth.idle(session);
    expect(berth.told(session).slice(-4)).toEqual(['status', 'message_end assistant discarded aborted', 'turn_end 1', 'agent_end aborted']);
  });

  test('in mid-sentence keeps what was said', async () => {
    await using berth = createTestEngine();
    const session = berth.session();
    berth.prompt(session);
    (await berth.model.next()).say('half an ans');
    await berth.until(session, () => berth.engine.live.openIn({ sessionId: session }).find((message) => message.units > 0));
    berth.abort(session);
    await berth.idle(session);
    expect(berth.history(session)).toEqual(['user: go', 'assistant: half an ans']);
    expect(berth.engine.live.openIn({ sessionId: session })).toEqual([]);
    expect(berth.store.db.prepare('SELECT count(*) FROM partial').pluck().get()).toBe(0);
  });

  test('in mid-tool gives every call exactly one result, and the next prompt is accepted by a strict provider', async () => {
    const gate = createGate();
    await using berth = createTestEngine({ tools: [gate.tool] });
    const session = berth.session();
    berth.prompt(session);
    (await berth.model.next()).call('gate', { key: 'a' }, 'c1').call('gate', { key: 'b' }, 'c2').end();
    await gate.arrive(1);
    berth.abort(session);
    await berth.idle(session);
    expect(gate.begun()).toEqual(['a']);
    const ends = berth.events(session).flatMap((event) => (event.type === 'tool_execution_end' ? [event.payload] : []));
    expect(ends).toMatchObject([
      { tool_call_id: 'c1', is_error: true, skipped: false },
      { tool_call_id: 'c2', is_error: true, skipped: true },
    ]);
    expectStrictHistory(berth, session);
    berth.prompt(session, 'again');
    const next = await berth.model.next();
    expect(next.request.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool_result', 'tool_result', 'user']);
    next.say('ok').end();
    await berth.idle(session);
  });

  test('twice, and once more when it is over, is one aborted run', async () => {
    await using berth = createTestEngine();
    const session = berth.session();
    berth.prompt(session);
    await berth.model.next();
    berth.abort(session);
    berth.abort(session);
    await berth.idle(session);
    expect(() => berth.abort(session)).toThrow('no_active_run');
    expect(outcomes(berth, session)).toEqual(['agent_end aborted']);
    expect(berth.told(session).filter((words) => words === 'status')).toHaveLength(1);
  });

  test('drops the queue in its first commit, or keeps it paused', async () => {
    await using berth = createTestEngine();
    const session = berth.session();
    berth.prompt(session);
    await berth.model.next();
    berth.submit(session, 'follow_up', 'f');
    berth.abort(session);
    expect(berth.store.load(session)).toMatchObject({ inputs: [], run: { aborting: true } });
    await berth.idle(session);
    berth.prompt(session, 'again');
    await berth.model.next();
    berth.submit(session, 'follow_up', 'f');
    berth.abort(session, true);
    await berth.idle(session);
    expect(berth.store.load(session)).toMatchObject({ paused: true, run: null, inputs: [{ text: 'f' }] });
  });

  test('resolves an open request by abort', async () => {
    await using berth = createTestEngine({ tools: [createAskUserTool()] });
    const session = berth.session();
    berth.prompt(session);
    (await berth.model.next()).call('ask_user', { method: 'confirm', title: 'Sure?' }).end();
    const request = await berth.asked(session);
    berth.abort(session);
    await berth.idle(session);
    expect(berth.events(session).find((event) => event.type === 'ui_resolved')).toMatchObject({
      payload: { request_id: request, by: 'abort', outcome: 'aborted' },
    });
    expectStrictHistory(berth, session);
  });

  test('reaches a model that does not listen: the run ends all the same', async () => {
    await using berth = createTestEngine();
    berth.model.deaf = true;
    const session = berth.session();
    berth.prompt(session);
    const call = await berth.model.next();
    call.say('I never st');
    await berth.until(session, () => berth.engine.live.openIn({ sessionId: session })[0]);
    berth.abort(session);
    await berth.idle(session);
    call.cut();
  });

  test('reaches a tool that does not listen: the run ends all the same', async () => {
    const gate = createGate('gate', { deaf: true });
    await using berth = createTestEngine({ tools: [gate.tool] });
    const session = berth.session();
    berth.prompt(session);
    (await berth.model.next()).call('gate', { key: 'a' }).end();
    await gate.arrive(1);
    berth.abort(session);
    await berth.idle(session);
    gate.open('a');
    expectStrictHistory(berth, session);
  });

  test('leaves no listener on the signals it fired, however many runs there are', async () => {
    await using berth = createTestEngine();
    const session = berth.session();
    const warnings: string[] = [];
    const note = (warning: Error): void => void warnings.push(warning.name);
    process.on('warning', note);
    for (let i = 0; i < 50; i++) {
      berth.prompt(session);
      await berth.model.next();
      berth.abort(session);
      await berth.idle(session);
    }
    process.off('warning', note);
    expect(warnings).toEqual([]);
    expect(berth.engine.running()).toBe(0);
  });
});

describe('the run to come', () => {
  test('is started by a steer that came during the abort, in the commit that ended the other', async () => {
    const gate = createGate('gate', { deaf: true });
    await using berth = createTestEngine({ tools: [gate.tool] });
    const session = berth.session();
    const first = berth.prompt(session);
    (await berth.model.next()).call('gate', { key: 'a' }).end();
    await gate.arrive(1);
    berth.abort(session);
    const accepted = berth.submit(session, 'steer', 'instead', { otherwise: 'prompt' });
    const second = accepted.ok ? accepted.reply.runId : '';
    expect(second).not.toBe(first);
    gate.open('a');
    const call = await berth.model.next();
    expect(call.request.messages.at(-1)).toMatchObject({ role: 'user', content: [{ text: 'instead' }] });
    call.say('ok').end();
    await berth.idle(session);
    const told = berth.told(session);
    const end = told.indexOf('agent_end aborted');
    expect(told.slice(end, end + 3)).toEqual(['agent_end aborted', 'agent_start', expect.stringMatching(/^queue_update taken/)]);
    expect(berth.store.load(session)?.lastRun).toMatchObject({ id: second, outcome: 'completed' });
  });

  test('leaves the others that came with it in the queue when it is cut short, and a restart after that works', async () => {
    const gate = createGate('gate', { deaf: true });
    await using berth = createTestEngine({ tools: [gate.tool] });
    const session = berth.session();
    berth.prompt(session);
    (await berth.model.next()).call('gate', { key: 'a' }).end();
    await gate.arrive(1);
    berth.abort(session);
    for (const text of ['one', 'two']) expect(berth.submit(session, 'steer', text, { otherwise: 'prompt' }).ok).toBe(true);
    gate.open('a');
    await berth.model.next();
    await using after = berth.crash();
    after.engine.recover();
    expect(after.store.load(session)).toMatchObject({
      run: null,
      paused: true,
      lastRun: { outcome: 'interrupted' },
      inputs: [{ text: 'two' }],
    });
  });
});

test('a session that is deleted while its tool runs ends, and nothing is written to it afterwards', async () => {
  const gate = createGate();
  await using berth = createTestEngine({ tools: [gate.tool] });
  const session = berth.session();
  berth.prompt(session);
  (await berth.model.next()).call('gate', { key: 'a' }).end();
  await gate.arrive(1);
  expect(berth.engine.commit.decide(session, deleteSession).ok).toBe(true);
  await berth.until(session, () => (berth.store.sessions.exists(session) ? undefined : true));
  const deleted = berth.store.db
    .prepare(`SELECT max(seq) FROM event WHERE session_id = ? AND type = 'session_update'`)
    .pluck()
    .get(session);
  await berth.otherRun();
  const last = berth.store.db.prepare('SELECT max(seq) FROM event WHERE session_id = ?').pluck().get(session);
  expect(last).toBe(deleted);
  expect(berth.engine.running()).toBe(0);
});
