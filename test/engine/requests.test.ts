import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createAskUserTool } from '../../src/tools/talk/ask-user.js';
import { toolText, type Question, type Tool } from '../../src/tools/port.js';
import { createTestEngine, type TestEngine } from '../support/engine.js';
import { createGate } from '../support/gate-tool.js';
import { questionParams } from '../support/requests.js';
import { zodParameters } from '../../src/tools/zod-parameters.js';

const confirm: Question = { params: questionParams('confirm', { title: 'Sure?' }), timeoutMs: null };

/** Asks its questions one after the other and says what was answered. */
function createAsking(questions: Question[], resumable = true): Tool {
  return {
    name: 'asking',
    description: 'asking',
    parameters: zodParameters(z.unknown()),
    readOnly: false,
    resumable,
    title: () => 'asking',
    async run(_args, { ask }) {
      const answers: unknown[] = [];
      for (const [index, question] of questions.entries()) answers.push(await ask(`q${index}`, question));
      return toolText(JSON.stringify(answers));
    },
  };
}

async function startAsking(berth: TestEngine, session = berth.session()): Promise<{ session: string; request: string }> {
  berth.prompt(session);
  (await berth.model.next()).call('asking', {}, 'c1').end();
  return { session, request: await berth.asked(session) };
}

function result(berth: TestEngine, session: string): string | undefined {
  return berth.events(session).flatMap((event) => (event.type === 'tool_execution_end' ? [event.payload.result] : []))[0];
}

function resolved(berth: TestEngine, session: string) {
  return berth.events(session).flatMap((event) => (event.type === 'ui_resolved' ? [event.payload] : []));
}

async function finish(berth: TestEngine, session: string): Promise<void> {
  (await berth.model.next()).say('ok').end();
  await berth.idle(session);
}

describe('a question', () => {
  test('waits until somebody answers; the tool gets the answer', async () => {
    await using berth = createTestEngine({ tools: [createAsking([confirm])] });
    const { session, request } = await startAsking(berth);
    expect(berth.answer(request, { result: true }).ok).toBe(true);
    await finish(berth, session);
    expect(result(berth, session)).toBe('[true]');
    expect(resolved(berth, session)).toMatchObject([{ request_id: request, by: 'test', outcome: 'answered', result: true }]);
  });

  test('is answered once: the first valid answer wins', async () => {
    await using berth = createTestEngine({ tools: [createAsking([confirm])] });
    const { session, request } = await startAsking(berth);
    expect(berth.answer(request, { result: 'maybe' })).toMatchObject({ ok: false, refusal: { code: 'invalid_payload' } });
    expect(berth.answer(request, { result: false }).ok).toBe(true);
    expect(berth.answer(request, { result: true })).toMatchObject({ ok: false, refusal: { message: 'already_resolved' } });
    await finish(berth, session);
    expect(result(berth, session)).toBe('[false]');
  });

  test('that is cancelled is answered with null', async () => {
    await using berth = createTestEngine({ tools: [createAsking([confirm])] });
    const { session, request } = await startAsking(berth);
    berth.answer(request, { cancelled: true });
    await finish(berth, session);
    expect(result(berth, session)).toBe('[null]');
  });

  test('that expires is answered with null, by timeout', async () => {
    await using berth = createTestEngine({ tools: [createAsking([{ ...confirm, timeoutMs: 20 }])] });
    const { session, request } = await startAsking(berth);
    expect(berth.store.requests.open(session)[0]?.expires_at).toBe(new Date(berth.clock.nowMs + 20).toISOString());
    berth.clock.nowMs += 20;
    await finish(berth, session);
    expect(resolved(berth, session)).toMatchObject([{ request_id: request, by: 'timeout', outcome: 'timeout', result: null }]);
    expect(result(berth, session)).toBe('[null]');
  });

  test('waits out a clock that goes back, and is not expired too early', async () => {
    await using berth = createTestEngine({ tools: [createAsking([{ ...confirm, timeoutMs: 10 }])] });
    const { session, request } = await startAsking(berth);
    berth.clock.nowMs -= 24 * 3600 * 1000;
    // A question that was put later expires: the timer of the first has fired before.
    const later = await startAsking(berth);
    berth.clock.nowMs += 10;
    await finish(berth, later.session);
    expect(berth.store.requests.open(session)).toHaveLength(1);
    expect(berth.answer(request, { result: true }).ok).toBe(true);
    await finish(berth, session);
  });

  test('is put again when a later call of the run has the same id', async () => {
    await using berth = createTestEngine({ tools: [createAsking([confirm])] });
    const { session, request } = await startAsking(berth);
    berth.answer(request, { result: true });
    (await berth.model.next()).call('asking', {}, 'c1').end();
    const again = await berth.asked(session);
    expect(again).not.toBe(request);
    berth.answer(again, { result: false });
    await finish(berth, session);
    const said = berth.events(session).flatMap((event) => (event.type === 'tool_execution_end' ? [event.payload.result] : []));
    expect(said).toEqual(['[true]', '[false]']);
  });

  test('that nobody could see is denied where the session says so, and the decision is recorded', async () => {
    await using berth = createTestEngine({ tools: [createAsking([confirm])], attended: () => false });
    const session = berth.session({ when_detached: 'deny' });
    berth.prompt(session);
    (await berth.model.next()).call('asking').end();
    await finish(berth, session);
    expect(resolved(berth, session)).toMatchObject([{ by: 'policy', outcome: 'denied', result: null }]);
    expect(result(berth, session)).toBe('[null]');
  });

  test('that nobody could see waits by default', async () => {
    await using berth = createTestEngine({ tools: [createAsking([confirm])], attended: () => false });
    const { session, request } = await startAsking(berth);
    expect(berth.store.load(session)?.run).not.toBeNull();
    berth.answer(request, { result: true });
    await finish(berth, session);
    expect(result(berth, session)).toBe('[true]');
  });
});

describe('an approval', () => {
  async function startCall(berth: TestEngine): Promise<{ session: string; request: string }> {
    const session = berth.session();
    berth.prompt(session);
    (await berth.model.next()).call('gate', { key: 'a' }, 'c1').call('gate', { key: 'b' }, 'c2').end();
    return { session, request: await berth.asked(session) };
  }

  test('is asked before the call begins; allowed, the call begins', async () => {
    const gate = createGate('gate', { approval: true });
    await using berth = createTestEngine({ tools: [gate.tool] });
    const { session, request } = await startCall(berth);
    expect(gate.begun()).toEqual([]);
    expect(berth.told(session)).not.toContain('tool_execution_start c1');
    expect(berth.store.requests.open(session)[0]).toMatchObject({
      method: 'select',
      expires_at: null,
      params: {
        kind: 'approval',
        title: 'May I?',
        message: 'a',
        tool_name: 'gate',
        args: { key: 'a' },
        digest: expect.stringMatching(/^[0-9a-f]{64}$/),
        sandboxed: false,
        options: expect.arrayContaining([expect.objectContaining({ value: 'allow_once' }), expect.objectContaining({ value: 'deny' })]),
      },
    });
    berth.answer(request, { result: 'allow_once' });
    await gate.arrive(1);
    expect(berth.told(session).slice(-2)).toEqual(['ui_resolved test answered', 'tool_execution_start c1']);
    gate.open('a');
    const second = await berth.until(session, () => berth.store.requests.open(session)[0]);
    expect(second.params).toMatchObject({ message: 'b' });
    berth.answer(second.request_id, { result: 'allow_once' });
    await gate.arrive(2);
    gate.open('b');
    await finish(berth, session);
  });

  test('denied without a reason ends the run as aborted, with a result for every call', async () => {
    const gate = createGate('gate', { approval: true });
    await using berth = createTestEngine({ tools: [gate.tool] });
    const { session, request } = await startCall(berth);
    berth.answer(request, { result: 'deny' });
    await berth.idle(session);
    expect(gate.begun()).toEqual([]);
    expect(berth.store.load(session)?.lastRun?.outcome).toBe('aborted');
    expect(berth.told(session).filter((words) => words === 'message_end tool_result')).toHaveLength(2);
  });

  test('denied with a reason is told to the model, which goes on', async () => {
    const gate = createGate('gate', { approval: true });
    await using berth = createTestEngine({ tools: [gate.tool] });
    const { session, request } = await startCall(berth);
    berth.answer(request, { result: { value: 'deny', reason: 'the other one first' } });
    const second = await berth.until(session, () => berth.store.requests.open(session)[0]);
    berth.answer(second.request_id, { result: 'allow_once' });
    await gate.arrive(1);
    gate.open('b');
    const next = await berth.model.next();
    expect(gate.begun()).toEqual(['b']);
    expect(next.request.messages.filter(({ role }) => role === 'tool_result')).toMatchObject([
      { toolCallId: 'c1', isError: true, content: [{ text: 'Denied: the other one first' }] },
      { toolCallId: 'c2', isError: false },
    ]);
    next.say('ok').end();
    await berth.idle(session);
    expect(berth.store.load(session)?.lastRun?.outcome).toBe('completed');
  });

  test.each([
    ['cancelled', { cancelled: true }],
    ['answered with an error', { error: 'no screen' }],
  ])('%s is never a yes', async (_how, answer) => {
    const gate = createGate('gate', { approval: true });
    await using berth = createTestEngine({ tools: [gate.tool] });
    const { session, request } = await startCall(berth);
    berth.answer(request, answer);
    await berth.idle(session);
    expect(gate.begun()).toEqual([]);
    expect(berth.store.load(session)?.lastRun?.outcome).toBe('aborted');
  });

  test('with nobody there and when_detached deny tells the model and goes on; nothing runs', async () => {
    const gate = createGate('gate', { approval: true });
    await using berth = createTestEngine({ tools: [gate.tool], attended: () => false });
    const session = berth.session({ when_detached: 'deny' });
    berth.prompt(session);
    (await berth.model.next()).call('gate', { key: 'a' }).end();
    const next = await berth.model.next();
    expect(gate.begun()).toEqual([]);
    expect(next.request.messages.at(-1)).toMatchObject({ role: 'tool_result', isError: true });
    next.say('ok').end();
    await berth.idle(session);
  });

  test('of calls that run side by side: one denied ends the run, and the questions of the others are resolved', async () => {
    const gate = createGate('gate', { approval: true, readOnly: true });
    await using berth = createTestEngine({ tools: [gate.tool] });
    const session = berth.session();
    berth.prompt(session);
    (await berth.model.next()).call('gate', { key: 'a' }, 'c1').call('gate', { key: 'b' }, 'c2').call('gate', { key: 'c' }, 'c3').end();
    await berth.until(session, () => (berth.store.requests.open(session).length === 3 ? true : undefined));
    const [first, second] = berth.store.requests.open(session);
    berth.answer(first!.request_id, { result: 'allow_once' });
    await gate.arrive(1);
    berth.answer(second!.request_id, { result: 'deny' });
    await berth.idle(session);
    expect(gate.begun()).toEqual(['a']);
    expect(berth.store.load(session)).toMatchObject({ requests: [], lastRun: { outcome: 'aborted' } });
    expect(resolved(berth, session).map(({ outcome }) => outcome)).toEqual(['answered', 'answered', 'aborted']);
    expect(berth.told(session).filter((words) => words === 'message_end tool_result')).toHaveLength(3);
  });

  test('is for one call: another call of the run that has the same id is asked about again', async () => {
    const gate = createGate('gate', { approval: true });
    await using berth = createTestEngine({ tools: [gate.tool] });
    const session = berth.session();
    berth.prompt(session);
    (await berth.model.next()).call('gate', { key: 'harmless' }, 'c1').end();
    const first = await berth.asked(session);
    berth.answer(first, { result: 'allow_once' });
    await gate.arrive(1);
    gate.open('harmless');
    // Some servers count their calls anew in every response.
    (await berth.model.next()).call('gate', { key: 'harmful' }, 'c1').end();
    const second = await Promise.race([berth.asked(session), gate.arrive(2).then(() => 'it ran')]);
    expect(second).not.toBe('it ran');
    expect(second).not.toBe(first);
    expect(berth.store.requests.open(session)[0]?.params).toMatchObject({ args: { key: 'harmful' } });
    berth.answer(second, { result: { value: 'deny', reason: 'no' } });
    await finish(berth, session);
    expect(gate.begun()).toEqual(['harmless']);
  });

  test('is not asked in full mode', async () => {
    const gate = createGate('gate', { approval: true });
    await using berth = createTestEngine({ tools: [gate.tool] });
    const session = berth.session({ approval_mode: 'full' });
    berth.prompt(session);
    (await berth.model.next()).call('gate', { key: 'a' }).end();
    await gate.arrive(1);
    gate.open('a');
    await finish(berth, session);
    expect(resolved(berth, session)).toEqual([]);
  });
});

describe('after a kill', () => {
  test('a run that only waits for an answer goes on under the same request, and completes', async () => {
    await using berth = createTestEngine({ tools: [createAsking([confirm, confirm])] });
    const { session, request } = await startAsking(berth);
    await using after = berth.crash();
    expect(after.engine.recover()).toMatchObject({ parked: 1, settled: 0 });
    expect(await after.asked(session)).toBe(request);
    expect(after.answer(request, { result: true }).ok).toBe(true);
    const second = await after.until(session, () => after.store.requests.open(session).find(({ request_id }) => request_id !== request));
    after.answer(second.request_id, { result: false });
    await finish(after, session);
    expect(result(after, session)).toBe('[true,false]');
    expect(after.told(session).filter((words) => words === 'agent_start')).toHaveLength(1);
    expect(after.told(session).filter((words) => words === 'ui_request')).toHaveLength(2);
    expect(after.told(session).filter((words) => words.startsWith('tool_execution_start'))).toHaveLength(1);
  });

  test('an answer that was given just before is not asked for again', async () => {
    await using berth = createTestEngine({ tools: [createAsking([confirm])] });
    const { session, request } = await startAsking(berth);
    berth.answer(request, { result: true });
    // The answer is committed; the tool hears of it in the next turn of the loop at the earliest.
    await using after = berth.crash();
    expect(after.engine.recover()).toMatchObject({ parked: 1 });
    await finish(after, session);
    expect(result(after, session)).toBe('[true]');
    expect(after.told(session).filter((words) => words === 'ui_request')).toHaveLength(1);
    await finish(berth, session);
  });

  test('an approval waits on; a call that was allowed and had begun is not run again', async () => {
    const gate = createGate('gate', { approval: true });
    await using berth = createTestEngine({ tools: [gate.tool] });
    const session = berth.session();
    berth.prompt(session);
    (await berth.model.next()).call('gate', { key: 'a' }, 'c1').end();
    const request = await berth.asked(session);
    const waiting = createGate('gate', { approval: true });
    await using parked = berth.crash({ tools: [waiting.tool] });
    expect(parked.engine.recover()).toMatchObject({ parked: 1 });
    expect(await parked.asked(session)).toBe(request);

    berth.answer(request, { result: 'allow_once' });
    await gate.arrive(1);
    const begun = createGate('gate', { approval: true });
    await using after = berth.crash({ tools: [begun.tool] });
    expect(after.engine.recover()).toMatchObject({ settled: 1, parked: 0 });
    expect(begun.begun()).toEqual([]);
    expect(after.store.load(session)).toMatchObject({ run: null, paused: true, lastRun: { outcome: 'interrupted' } });
    expect(result(after, session)).toContain('may or may not have had its effect');
    gate.open('a');
    await finish(berth, session);
  });

  test('an approval that was given before the call began is honoured once', async () => {
    const gate = createGate('gate', { approval: true });
    await using berth = createTestEngine({ tools: [gate.tool] });
    const session = berth.session();
    berth.prompt(session);
    (await berth.model.next()).call('gate', { key: 'a' }, 'c1').end();
    berth.answer(await berth.asked(session), { result: 'allow_once' });
    const again = createGate('gate', { approval: true });
    await using after = berth.crash({ tools: [again.tool] });
    expect(after.engine.recover()).toMatchObject({ parked: 1 });
    await again.arrive(1);
    again.open('a');
    await finish(after, session);
    expect(after.told(session).filter((words) => words === 'ui_request')).toHaveLength(1);
    await gate.arrive(1);
    gate.open('a');
    await finish(berth, session);
  });

  test('a question that expired meanwhile is closed by timeout', async () => {
    await using berth = createTestEngine({ tools: [createAsking([{ ...confirm, timeoutMs: 60_000 }])] });
    const { session } = await startAsking(berth);
    await using after = berth.crash();
    after.clock.nowMs += 61_000;
    expect(after.engine.recover()).toMatchObject({ parked: 1 });
    await finish(after, session);
    expect(resolved(after, session)).toMatchObject([{ by: 'timeout', result: null }]);
  });

  test('a run that waited while its daemon was stopped in order is parked as well', async () => {
    const berth = createTestEngine({ tools: [createAsking([confirm])] });
    const { session, request } = await startAsking(berth);
    await berth.engine.stop();
    expect(berth.store.load(session)).toMatchObject({ paused: false, requests: [{ request_id: request }] });
    await using after = berth.crash();
    await berth[Symbol.asyncDispose]();
    expect(after.engine.recover()).toMatchObject({ parked: 1, settled: 0 });
    after.answer(request, { result: true });
    await finish(after, session);
    expect(after.store.load(session)?.lastRun?.outcome).toBe('completed');
  });

  test('each of the four kinds that ask_user knows is asked again under its id', async () => {
    await using berth = createTestEngine({ tools: [createAskUserTool()] });
    const sessions = await Promise.all(
      [{ method: 'select', options: ['a', 'b'] }, { method: 'confirm' }, { method: 'input' }, { method: 'editor' }].map(async (args) => {
        const session = berth.session();
        berth.prompt(session);
        (await berth.model.next()).call('ask_user', { title: 'Well?', ...args }).end();
        return { session, request: await berth.asked(session) };
      }),
    );
    await using after = berth.crash();
    expect(after.engine.recover()).toMatchObject({ parked: 4 });
    const answers = ['b', true, 'words', null];
    for (const [index, { session, request }] of sessions.entries()) {
      expect(await after.asked(session)).toBe(request);
      expect(after.answer(request, { result: answers[index] }).ok).toBe(true);
      await finish(after, session);
    }
    expect(sessions.map(({ session }) => result(after, session))).toEqual([
      'The person chose: b',
      'The person said yes.',
      'The person wrote: words',
      'The person gave no answer.',
    ]);
  });
});
