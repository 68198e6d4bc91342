import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startDaemon, type TestDaemon } from '../support/daemon.js';
import { startWithHeldModel } from '../support/held-model.js';
import type { RawClient } from '../support/raw-client.js';
import { begin, done, isEvent, listenTo, newSession, refusalOf, streamed } from '../support/wire.js';

let daemon: TestDaemon;
let client: RawClient;
let sessionId: string;
let count = 0;

beforeAll(async () => {
  daemon = await startDaemon({ wps: 500 });
});
beforeEach(async () => {
  client = await daemon.raw();
  sessionId = await newSession(client);
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

const fresh = (): string => `input-${++count}`;

async function texts(id = sessionId, asked = client): Promise<string[]> {
  const { messages } = done(await asked.call('get_messages', { session_id: id }));
  return messages.filter(({ role }: { role: string }) => role === 'user').map(({ text }: { text: string }) => text);
}

async function runs(id = sessionId, asked = client): Promise<number> {
  return done(await asked.call('list_runs', { session_id: id })).runs.length as number;
}

test('the same prompt twice is one message, one run and one answer', async () => {
  const prompt = { text: 'say once', session_id: sessionId, input_id: fresh() };
  const first = await client.call('prompt', prompt);
  const second = await client.call('prompt', prompt);
  expect(done(second)).toEqual(done(first));
  expect(await texts()).toEqual(['say once']);
  expect(await runs()).toBe(1);
});

test('the same prompt sent twice in one write is one run, and both wait for it', async () => {
  const payload = { text: 'stream 30 words', session_id: sessionId, input_id: fresh() };
  client.send(['a', 'b', 'c'].map((id) => `${JSON.stringify({ id, type: 'prompt', payload })}\n`).join(''));
  const replies = await Promise.all(['a', 'b', 'c'].map((wanted) => client.until(({ id }) => id === wanted)));
  for (const reply of replies) expect(done(reply)).toEqual(done(replies[0]!));
  expect(done(replies[0]!).output).toBe(streamed(30));
  expect(await runs()).toBe(1);
});

test('a prompt that does not wait is acknowledged the same again: run, seq and all', async () => {
  const prompt = { text: 'stream 30 words', session_id: sessionId, input_id: fresh(), wait: false };
  const first = await client.call('prompt', prompt);
  const while_running = await client.call('prompt', prompt);
  const { output } = done(await client.call('prompt', { ...prompt, wait: true }));
  const after = await client.call('prompt', prompt);
  expect(output).toBe(streamed(30));
  for (const again of [while_running, after])
    expect({ seq: again.seq, payload: again.payload }).toEqual({ seq: first.seq, payload: first.payload });
});

test('a retry from another connection, after a lost reply, is answered the same', async () => {
  const lost = await daemon.raw();
  const input_id = fresh();
  const prompt = { text: 'say hello again', session_id: sessionId, input_id };
  const events = await listenTo(daemon, { session_id: sessionId });
  lost.send({ id: 'x', type: 'prompt', payload: prompt });
  await events.until(isEvent('agent_start'));
  lost.close();
  const other = await daemon.raw();
  expect(done(await other.call('prompt', prompt))).toMatchObject({ output: 'hello again', input_id });
  expect(await runs()).toBe(1);
});

test('a retry after the daemon was killed is answered the same', async () => {
  await using mortal = await startDaemon();
  const one = await mortal.raw();
  const id = await newSession(one);
  const prompt = { text: 'say durable', session_id: id, input_id: 'kept', wait: false };
  const first = await one.call('prompt', prompt);
  await mortal.kill9();
  await mortal.start();
  const other = await mortal.raw();
  const again = await other.call('prompt', prompt);
  expect({ seq: again.seq, payload: again.payload }).toEqual({ seq: first.seq, payload: first.payload });
  const { runs: all } = done(await other.call('list_runs', { session_id: id }));
  expect(all).toHaveLength(1);
  const { queue } = done(await other.call('get_state', { session_id: id }));
  expect(queue.inputs).toEqual([]);
});

test('the same steer or follow_up twice waits once, while it waits, when it is taken and when the run is over', async () => {
  await using held = await startWithHeldModel();
  const client = await held.raw();
  const sessionId = await newSession(client);
  const finishAnswers = [held.answerNext(streamed(100), 'word50 '), held.answerNext('one two', 'two'), held.answerNext('one two', 'two')];
  const events = await listenTo(held, { session_id: sessionId });
  const runId = await begin(client, sessionId, 'many words');
  const commands = ['steer', 'follow_up'].map((command) => ({
    command,
    payload: { text: `say ${command}`, session_id: sessionId, input_id: fresh() },
  }));
  const acknowledged = [];
  for (const { command, payload } of commands) {
    const first = await client.call(command, payload);
    expect(done(first)).toEqual({ command, run_id: runId, session_id: sessionId, input_id: payload.input_id });
    acknowledged.push({ seq: first.seq, payload: first.payload });
    const second = await client.call(command, payload);
    expect({ seq: second.seq, payload: second.payload }).toEqual(acknowledged.at(-1));
  }
  for (const [i, { command, payload }] of commands.entries()) {
    finishAnswers[i]?.();
    await events.until((line) => isEvent('turn_start')(line) && (line.payload.input_ids as string[]).includes(payload.input_id));
    const third = await client.call(command, payload);
    expect({ seq: third.seq, payload: third.payload }).toEqual(acknowledged[i]);
  }
  finishAnswers[2]?.();
  await events.until(isEvent('agent_end'));
  expect(await texts(sessionId, client)).toEqual(['many words', 'say steer', 'say follow_up']);
});

test('the same id with another text, command, content or session is a conflict and changes nothing', async () => {
  const input_id = fresh();
  const prompt = { text: 'say mine', session_id: sessionId, input_id };
  done(await client.call('prompt', prompt));
  const other = await newSession(client);
  for (const [type, payload] of [
    ['prompt', { ...prompt, text: 'say yours' }],
    ['prompt', { ...prompt, session_id: other }],
    ['prompt', { ...prompt, content: [{ type: 'text', text: 'say mine' }] }],
    ['steer', { ...prompt, if_idle: 'prompt' }],
    ['follow_up', { ...prompt, if_idle: 'prompt' }],
  ] as const) {
    expect(refusalOf(await client.call(type, payload))).toMatchObject({
      code: 'command_rejected',
      message: 'input_conflict',
      retryable: false,
    });
  }
  expect(await texts()).toEqual(['say mine']);
  expect(await texts(other)).toEqual([]);
});

test('a hundred clients that send the same input at the same moment make one run', async () => {
  const payload = { text: 'say all together', session_id: sessionId, input_id: fresh() };
  const crowd = await Promise.all(Array.from({ length: 100 }, () => daemon.raw()));
  const replies = await Promise.all(crowd.map((one) => one.call('prompt', payload)));
  for (const reply of replies) expect(done(reply)).toEqual(done(replies[0]!));
  expect(await runs()).toBe(1);
  for (const one of crowd) one.close();
});

test('two prompts at the same moment: one runs, the other is told so', async () => {
  const [one, two] = [await daemon.raw(), await daemon.raw()];
  for (let i = 0; i < 20; i++) {
    const id = await newSession(client);
    const replies = await Promise.all([
      one.call('prompt', { text: 'ask me', session_id: id, wait: false }),
      two.call('prompt', { text: 'ask me', session_id: id, wait: false }),
    ]);
    expect(replies.filter(({ ok }) => ok)).toHaveLength(1);
    expect(refusalOf(replies.find(({ ok }) => !ok)!).message).toBe('run_in_progress');
    done(await client.call('delete_session', { session_id: id }));
  }
});

test('a prompt that may join what runs says which run it joined, and a retry is told the same', async () => {
  await using held = await startWithHeldModel();
  const client = await held.raw();
  const sessionId = await newSession(client);
  const finishAnswer = held.answerNext(streamed(60), 'word30 ');
  held.answerNext('joined');
  const runId = await begin(client, sessionId, 'many words');
  const payload = { text: 'say joined', session_id: sessionId, if_busy: 'follow_up', input_id: fresh(), wait: false };
  const first = done(await client.call('prompt', payload));
  expect(first).toMatchObject({ command: 'prompt', run_id: runId });
  expect(done(await client.call('prompt', payload))).toEqual(first);
  finishAnswer();
  const { output } = done(await client.call('prompt', { ...payload, wait: true }));
  expect(output).toBe('joined');
  expect(await runs(sessionId, client)).toBe(1);
});

test.each(['', ' ', 'a b', 'ä', 'a/b', 'x'.repeat(129), 'a\n', '"'])('%j is not an input id', async (input_id) => {
  for (const type of ['prompt', 'steer', 'follow_up']) {
    expect(refusalOf(await client.call(type, { text: 'x', session_id: sessionId, input_id }))).toMatchObject({
      code: 'invalid_payload',
      details: { field: 'input_id' },
    });
  }
});

test.each(['a', 'x'.repeat(128), 'A-z_0.9:', '-', '...'])('%s is an input id', async (input_id) => {
  expect(done(await client.call('prompt', { text: 'say x', session_id: sessionId, input_id })).input_id).toBe(input_id);
});

test('without an id the daemon makes one, and the event, the queue and the reply agree on it', async () => {
  await using held = await startWithHeldModel();
  const client = await held.raw();
  const sessionId = await newSession(client);
  const finishAnswer = held.answerNext(streamed(60), 'word30 ');
  const events = await listenTo(held, { session_id: sessionId });
  await begin(client, sessionId, 'many words');
  const { input_id } = done(await client.call('follow_up', { text: 'say later', session_id: sessionId }));
  expect(input_id).toMatch(/^inp_/);
  expect(done(await client.call('get_queue', { session_id: sessionId })).inputs).toMatchObject([
    { input_id, revision: 1, hold: false, kind: 'follow_up' },
  ]);
  const added = await events.until(isEvent('queue_update', { op: 'added' }));
  expect((added.payload.input as { input_id: string }).input_id).toBe(input_id);
  finishAnswer();
  const turn = await events.until(isEvent('turn_start', { kind: 'follow_up' }));
  expect(turn.payload.input_ids).toEqual([input_id]);
});

test('a first prompt in an empty store makes its session, and its retry finds it', async () => {
  await using empty = await startDaemon();
  const one = await empty.raw();
  expect(done(await one.call('get_state'))).toMatchObject({ session_id: '', run_state: 'idle', run_id: '', partial: [], requests: [] });
  expect(done(await one.call('get_messages'))).toMatchObject({ session_id: '', messages: [] });
  const prompt = { text: 'say first', input_id: 'first' };
  const first = done(await one.call('prompt', prompt));
  const other = await empty.raw();
  expect(done(await other.call('prompt', prompt))).toEqual(first);
  expect(done(await other.call('list_sessions')).sessions).toMatchObject([{ session_id: first.session_id, message_count: 2 }]);
  expect(done(await other.call('get_state')).session_id).toBe(first.session_id);
});

test('a retry by a client that says hello finds the session its first prompt made', async () => {
  await using empty = await startDaemon();
  const prompt = { text: 'say first', input_id: 'first' };
  const replies = [];
  for (let i = 0; i < 2; i++) {
    const one = await empty.raw();
    done(await one.call('hello', {}));
    replies.push(done(await one.call('prompt', prompt)));
    one.close();
  }
  expect(replies[1]).toEqual(replies[0]);
});
