import { describe, expect, test } from 'vitest';
import { updateQueued } from '../../src/core/inputs.js';
import { createTestEngine, type TestEngine } from '../support/engine.js';
import { createGate } from '../support/gate-tool.js';

function skipped(berth: TestEngine, session: string): string[] {
  return berth
    .events(session)
    .flatMap((event) => (event.type === 'tool_execution_end' && event.payload.skipped ? [event.payload.tool_call_id] : []));
}

describe('a steer', () => {
  test('that comes while the model speaks is delivered once, at the next boundary', async () => {
    await using berth = createTestEngine();
    const session = berth.session();
    berth.prompt(session, 'first');
    const answer = (await berth.model.next()).begin().say('half');
    await berth.until(session, () => (berth.engine.live.openIn({ sessionId: session }).length > 0 ? true : undefined));
    expect(berth.submit(session, 'steer', 'turn around').ok).toBe(true);
    answer.say(' whole').end();
    const second = await berth.model.next();
    expect(second.request.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    second.say('turned').end();
    await berth.idle(session);
    expect(berth.history(session)).toEqual(['user: first', 'assistant: half whole', 'user: turn around', 'assistant: turned']);
    expect(berth.told(session).filter((words) => words.startsWith('queue_update taken'))).toHaveLength(1);
  });

  test.each([
    ['all', [['s1', 's2']]],
    ['one-at-a-time', [['s1'], ['s2']]],
  ] as const)('that comes while a tool runs is taken after its result; two of them in mode %s', async (mode, expected) => {
    const gate = createGate('gate');
    await using berth = createTestEngine({ tools: [gate.tool] });
    const session = berth.session({ steering_mode: mode });
    berth.prompt(session);
    (await berth.model.next()).call('gate', { key: 'a' }).end();
    await gate.arrive(1);
    berth.submit(session, 'steer', 's1');
    berth.submit(session, 'steer', 's2');
    gate.open('a');
    const seen: string[][] = [];
    while (seen.length < expected.length) {
      const call = await berth.model.next();
      const { messages } = call.request;
      const answered = messages.findLastIndex(({ role }) => role !== 'user');
      seen.push(messages.slice(answered + 1).map(({ content }) => (content[0]?.type === 'text' ? content[0].text : '')));
      call.say('ok').end();
    }
    await berth.idle(session);
    expect(seen).toEqual(expected);
  });

  test('skips the rest of the calls of the response, each with a result that says so', async () => {
    const gate = createGate('gate');
    await using berth = createTestEngine({ tools: [gate.tool] });
    const session = berth.session();
    berth.prompt(session);
    (await berth.model.next()).call('gate', { key: 'a' }, 'c1').call('gate', { key: 'b' }, 'c2').call('gate', { key: 'c' }, 'c3').end();
    await gate.arrive(1);
    berth.submit(session, 'steer', 'stop that');
    gate.open('a');
    const next = await berth.model.next();
    expect(gate.begun()).toEqual(['a']);
    expect(skipped(berth, session)).toEqual(['c2', 'c3']);
    expect(next.request.messages.filter(({ role }) => role === 'tool_result').map(({ toolCallId }) => toolCallId)).toEqual([
      'c1',
      'c2',
      'c3',
    ]);
    expect(next.request.messages.at(-1)).toMatchObject({ role: 'user', content: [{ text: 'stop that' }] });
    next.say('stopped').end();
    await berth.idle(session);
  });

  test('that was there before the response leaves its first call its chance', async () => {
    const gate = createGate('gate');
    await using berth = createTestEngine({ tools: [gate.tool] });
    const session = berth.session();
    berth.prompt(session);
    const answer = await berth.model.next();
    berth.submit(session, 'steer', 'early');
    answer.call('gate', { key: 'a' }, 'c1').call('gate', { key: 'b' }, 'c2').end();
    await gate.arrive(1);
    gate.open('a');
    (await berth.model.next()).say('ok').end();
    await berth.idle(session);
    expect(gate.begun()).toEqual(['a']);
    expect(skipped(berth, session)).toEqual(['c2']);
  });

  test('resolves the request of a later call that waits for approval, and the call is skipped', async () => {
    const gate = createGate('gate', { approval: true });
    await using berth = createTestEngine({ tools: [gate.tool] });
    const session = berth.session();
    berth.prompt(session);
    (await berth.model.next()).call('gate', { key: 'a' }, 'c1').call('gate', { key: 'b' }, 'c2').end();
    const first = await berth.asked(session);
    expect(berth.answer(first, { result: 'allow_once' }).ok).toBe(true);
    await gate.arrive(1);
    gate.open('a');
    const second = await berth.until(session, () => berth.store.requests.open(session).find(({ request_id }) => request_id !== first));
    expect(second).toMatchObject({
      tool_call_id: 'c2',
      method: 'select',
      params: { kind: 'approval', tool_name: 'gate', args: { key: 'b' } },
    });
    berth.submit(session, 'steer', 'rather not');
    (await berth.model.next()).say('ok').end();
    await berth.idle(session);
    expect(berth.events(session).filter((event) => event.type === 'ui_resolved')).toMatchObject([
      { payload: { request_id: first, outcome: 'answered' } },
      { payload: { request_id: second.request_id, by: 'steer', outcome: 'steered' } },
    ]);
    expect(skipped(berth, session)).toEqual(['c2']);
    expect(berth.answer(second.request_id, { result: 'allow_once' })).toMatchObject({
      ok: false,
      refusal: { message: 'already_resolved' },
    });
  });

  test('leaves the request of a first call open: it always gets its chance', async () => {
    const gate = createGate('gate', { approval: true });
    await using berth = createTestEngine({ tools: [gate.tool] });
    const session = berth.session();
    berth.prompt(session);
    (await berth.model.next()).call('gate', { key: 'a' }, 'c1').call('gate', { key: 'b' }, 'c2').end();
    const request = await berth.asked(session);
    berth.submit(session, 'steer', 'hurry');
    await berth.otherRun();
    expect(berth.store.requests.open(session)).toHaveLength(1);
    berth.answer(request, { result: 'allow_once' });
    await gate.arrive(1);
    gate.open('a');
    (await berth.model.next()).say('ok').end();
    await berth.idle(session);
    expect(skipped(berth, session)).toEqual(['c2']);
  });

  test('that is held skips nothing; released in mid-run it is taken', async () => {
    const gate = createGate('gate');
    await using berth = createTestEngine({ tools: [gate.tool] });
    const session = berth.session();
    berth.prompt(session);
    (await berth.model.next()).call('gate', { key: 'a' }, 'c1').call('gate', { key: 'b' }, 'c2').end();
    await gate.arrive(1);
    berth.submit(session, 'steer', 'later', { id: 'inp_held' });
    const hold = (hold: boolean, revision: number) =>
      berth.engine.commit.decide(session, (state, fresh) => updateQueued(state, { inputId: 'inp_held', revision, hold }, fresh));
    expect(hold(true, 1).ok).toBe(true);
    gate.open('a');
    await gate.arrive(2);
    expect(skipped(berth, session)).toEqual([]);
    expect(hold(false, 2).ok).toBe(true);
    gate.open('b');
    const next = await berth.model.next();
    expect(next.request.messages.at(-1)).toMatchObject({ role: 'user', content: [{ text: 'later' }] });
    next.say('ok').end();
    await berth.idle(session);
  });
});

describe('read-only calls', () => {
  test('run side by side, others one after the other', async () => {
    const reading = createGate('look', { readOnly: true });
    const writing = createGate('change');
    await using berth = createTestEngine({ tools: [reading.tool, writing.tool] });
    const session = berth.session();
    berth.prompt(session);
    (await berth.model.next())
      .call('look', { key: 'a' })
      .call('look', { key: 'b' })
      .call('change', { key: 'c' })
      .call('look', { key: 'd' })
      .end();
    await reading.arrive(2);
    expect([reading.begun(), writing.begun()]).toEqual([['a', 'b'], []]);
    reading.open('b');
    reading.open('a');
    await writing.arrive(1);
    expect(reading.begun()).toEqual(['a', 'b']);
    writing.open('c');
    await reading.arrive(3);
    reading.open('d');
    (await berth.model.next()).say('ok').end();
    await berth.idle(session);
  });

  test('count as one for a steer: those that began are finished, what follows them is skipped', async () => {
    const reading = createGate('look', { readOnly: true });
    const writing = createGate('change');
    await using berth = createTestEngine({ tools: [reading.tool, writing.tool] });
    const session = berth.session();
    berth.prompt(session);
    (await berth.model.next()).call('look', { key: 'a' }, 'c1').call('look', { key: 'b' }, 'c2').call('change', { key: 'c' }, 'c3').end();
    await reading.arrive(2);
    berth.submit(session, 'steer', 'enough');
    reading.open('a');
    await berth.until(session, () => (berth.store.runs.active(session)?.calls.some(({ id }) => id === 'c1') ? undefined : true));
    reading.open('b');
    (await berth.model.next()).say('ok').end();
    await berth.idle(session);
    expect(writing.begun()).toEqual([]);
    const ends = berth.events(session).flatMap((event) => (event.type === 'tool_execution_end' ? [event.payload] : []));
    expect(ends.filter(({ skipped: gone }) => !gone).map(({ result }) => result)).toEqual(['look a', 'look b']);
    expect(skipped(berth, session)).toEqual(['c3']);
  });
});

describe('follow-ups', () => {
  test('are three turns of the same run, first come first served, none merged', async () => {
    await using berth = createTestEngine();
    const session = berth.session();
    const run = berth.prompt(session, 'p');
    const first = await berth.model.next();
    for (const text of ['f1', 'f2', 'f3'])
      expect(berth.submit(session, 'follow_up', text)).toMatchObject({ ok: true, reply: { runId: run } });
    first.say('0').end();
    for (const text of ['1', '2', '3']) (await berth.model.next()).say(text).end();
    await berth.idle(session);
    expect(berth.history(session).map((line) => line.split(': ')[1])).toEqual(['p', '0', 'f1', '1', 'f2', '2', 'f3', '3']);
    expect(berth.told(session).filter((words) => /^(agent|turn)_/.test(words))).toEqual([
      'agent_start',
      'turn_start 1 prompt',
      'turn_end 1',
      'turn_start 2 follow_up',
      'turn_end 2',
      'turn_start 3 follow_up',
      'turn_end 3',
      'turn_start 4 follow_up',
      'turn_end 4',
      'agent_end completed',
    ]);
  });

  test('wait for tool calls to be over, steers do not', async () => {
    const gate = createGate('gate');
    await using berth = createTestEngine({ tools: [gate.tool] });
    const session = berth.session();
    berth.prompt(session);
    const first = await berth.model.next();
    berth.submit(session, 'follow_up', 'f');
    first.call('gate', { key: 'a' }).end();
    await gate.arrive(1);
    gate.open('a');
    const second = await berth.model.next();
    expect(second.request.messages.at(-1)?.role).toBe('tool_result');
    second.say('done').end();
    const third = await berth.model.next();
    expect(third.request.messages.at(-1)).toMatchObject({ role: 'user', content: [{ text: 'f' }] });
    third.say('ok').end();
    await berth.idle(session);
  });
});
