import { expect, test } from 'vitest';
import { startDaemon } from '../support/daemon.js';
import { startWithHeldModel } from '../support/held-model.js';
import { dialAfterPrompt, dialBeforePrompt, expectWholeRun, saidIn, send } from '../support/first-protocol.js';
import type { RawLine } from '../support/raw-client.js';
import { begin, done, isEvent, listenTo, newSession, refusalOf, streamed } from '../support/wire.js';

// The contract of the first protocol, played as its clients play it: raw lines, a silent event connection, no hello.

test('a client that dials after the reply to its prompt hears each of ten prompts in a row, whole and nothing else', async () => {
  await using daemon = await startDaemon();
  for (let i = 0; i < 10; i++) {
    const { runId, trace } = await dialAfterPrompt(daemon, i % 2 === 0 ? `say answer ${i}` : 'call 2 tools');
    expectWholeRun(trace, runId);
    if (i % 2 === 0) expect(saidIn(trace, runId)).toBe(`answer ${i}`);
    expect(new Set(trace.filter(isEvent('agent_start')).map(({ payload }) => payload.run_id))).toEqual(new Set([runId]));
  }
});

test('a client that dials before it prompts follows its own run each of ten times', async () => {
  await using daemon = await startDaemon();
  for (let i = 0; i < 10; i++) {
    const { runId, followed, trace } = await dialBeforePrompt(daemon, `say answer ${i}`);
    expect(followed).toBe(runId);
    expectWholeRun(trace, runId);
    expect(saidIn(trace, runId)).toBe(`answer ${i}`);
  }
});

test('the two kinds of clients take turns and each hears its own run', async () => {
  await using daemon = await startDaemon();
  for (let i = 0; i < 4; i++) {
    const after = await dialAfterPrompt(daemon, `say after ${i}`);
    expect(saidIn(after.trace, after.runId)).toBe(`after ${i}`);
    const before = await dialBeforePrompt(daemon, `say before ${i}`);
    expect(before.followed).toBe(before.runId);
    expectWholeRun(before.trace, before.runId);
  }
});

test('two connections that dial at once both hear a run that is already over', async () => {
  await using daemon = await startDaemon();
  const { run_id } = done(await send(daemon, 'prompt', { text: 'say over' }));
  const both = [await daemon.rawEvents(), await daemon.rawEvents()];
  for (const events of both) {
    await events.until(isEvent('agent_end', { run_id }));
    expectWholeRun(events.lines, run_id as string);
  }
});

test('one event connection that stays hears two prompts within a second, one after the other', async () => {
  await using daemon = await startDaemon();
  const events = await daemon.rawEvents();
  const runs: string[] = [];
  for (const text of ['say one', 'say two']) {
    const { run_id } = done(await send(daemon, 'prompt', { text, wait: false }));
    await events.until(isEvent('agent_end', { run_id }));
    runs.push(run_id as string);
  }
  expect(events.lines.filter(isEvent('agent_start')).map(({ payload }) => payload.run_id)).toEqual(runs);
  for (const runId of runs) expectWholeRun(events.lines, runId);
  expect(runs.map((runId) => saidIn(events.lines, runId))).toEqual(['one', 'two']);
});

test('a client that loses its event connection in mid-run reads the whole run on the next one', async () => {
  await using daemon = await startWithHeldModel();
  const finishAnswer = daemon.answerNext(streamed(120), 'word60 ');
  const first = await daemon.rawEvents();
  const { run_id } = done(await send(daemon, 'prompt', { text: 'many words', wait: false }));
  await first.until(isEvent('message_update'));
  first.close();
  const state = done(await send(daemon, 'get_state'));
  expect(state).toMatchObject({ run_state: 'running', run_id });
  const { messages } = done(await send(daemon, 'get_messages'));
  expect((messages as RawLine[]).map(({ type }) => type)).toEqual(['message']);
  const second = await daemon.rawEvents();
  await second.until(isEvent('message_update', { run_id }));
  finishAnswer();
  await second.until(isEvent('agent_end', { run_id }));
  expectWholeRun(second.lines, run_id as string);
  expect(saidIn(second.lines, run_id as string)).toBe(streamed(120));
});

test('steer, follow_up and abort reach the run in progress from connections of their own', async () => {
  await using daemon = await startWithHeldModel();
  const finishAnswer = daemon.answerNext(streamed(150), 'word75 ');
  for (const text of ['next', 'last']) daemon.answerNext(text);
  const events = await daemon.rawEvents();
  const { run_id } = done(await send(daemon, 'prompt', { text: 'many words', wait: false }));
  expect(done(await send(daemon, 'follow_up', { text: 'say last' }))).toMatchObject({ command: 'follow_up', run_id });
  expect(done(await send(daemon, 'steer', { text: 'say next' }))).toMatchObject({ command: 'steer', run_id });
  finishAnswer();
  await events.until(isEvent('agent_end', { run_id }));
  expectWholeRun(events.lines, run_id as string);
  expect(events.lines.filter(isEvent('turn_start')).map(({ payload }) => payload.kind)).toEqual(['prompt', 'steer', 'follow_up']);
  daemon.answerNext(streamed(2000), 'word1000 ');
  const { run_id: second } = done(await send(daemon, 'prompt', { text: 'more words', wait: false }));
  await events.until(isEvent('message_update', { run_id: second }));
  expect(done(await send(daemon, 'abort'))).toMatchObject({ command: 'abort', run_id: second });
  expect((await events.until(isEvent('agent_end', { run_id: second }))).payload.outcome).toBe('aborted');
  expectWholeRun(events.lines, second as string);
  expect(refusalOf(await send(daemon, 'abort')).message).toBe('no_active_run');
});

test('a run that waits for a person says so in a status event, and goes on when another client answers', async () => {
  await using daemon = await startDaemon();
  const ours = await daemon.raw();
  done(await ours.call('hello', { client: { name: 'other' }, ui_capabilities: ['select'] }));
  const silent = await daemon.rawEvents();
  const { run_id } = done(await send(daemon, 'prompt', { text: 'echo ahoy with approval', wait: false }));
  const status = await silent.until(isEvent('status', { run_id }));
  expect(status.payload.message).toMatch(/^waiting for approval: \S/);
  const [request] = done(await ours.call('list_ui_requests')).requests as { request_id: string }[];
  expect(status.payload.request_id).toBe(request?.request_id);
  done(await ours.call('ui_response', { request_id: request?.request_id, result: 'allow_once' }));
  expect((await silent.until(isEvent('agent_end', { run_id }))).payload.outcome).toBe('completed');
  expectWholeRun(silent.lines, run_id as string);
});

test('each question has a status of its own that says what is waited for', async () => {
  await using daemon = await startDaemon();
  const silent = await daemon.rawEvents();
  const client = await daemon.raw();
  const { run_id } = done(await client.call('prompt', { text: 'ask me', wait: false }));
  for (const [method, result] of Object.entries({ select: 'south', confirm: true, input: 'Argo', editor: 'Day 1: fog' })) {
    const { payload } = await silent.until(isEvent('ui_request', { method }));
    const status = await silent.until(isEvent('status', { request_id: payload.request_id }));
    expect(status.payload.message).toBe(`waiting for an answer: ${(payload.params as { title: string }).title}`);
    done(await client.call('ui_response', { request_id: payload.request_id, result }));
  }
  await silent.until(isEvent('agent_end', { run_id }));
  expect(silent.lines.filter(isEvent('status'))).toHaveLength(4);
});

test('the output of a running tool names the tool', async () => {
  await using daemon = await startDaemon();
  const client = await daemon.raw();
  const sessionId = await newSession(client);
  const events = await listenTo(daemon, { session_id: sessionId });
  await begin(client, sessionId, 'echo ahoy for 1 second');
  const update = await events.until(isEvent('tool_execution_update'));
  expect(update.payload).toMatchObject({ tool_name: 'echo', delta: expect.any(String) });
  done(await client.call('abort', { session_id: sessionId }));
});

test('in a store with no session yet nothing is refused that the contract has accepted', async () => {
  await using daemon = await startDaemon();
  expect(done(await send(daemon, 'set_steering_mode', { mode: 'all' }))).toMatchObject({ command: 'set_steering_mode', mode: 'all' });
  expect(done(await send(daemon, 'set_follow_up_mode', { mode: 'all' }))).toMatchObject({ command: 'set_follow_up_mode', mode: 'all' });
  expect(done(await send(daemon, 'set_active_tools', { tools: ['clock', 'clock'] }))).toMatchObject({
    command: 'set_active_tools',
    count: 1,
  });
  expect(refusalOf(await send(daemon, 'set_active_tools', { tools: ['no-such-tool'] })).message).toBe('tool_not_registered');
  expect(done(await send(daemon, 'get_tree'))).toMatchObject({ session_id: '', nodes: [], leaf_id: null });
  expect(done(await send(daemon, 'get_messages'))).toMatchObject({ session_id: '', messages: [] });
  for (const type of ['steer', 'follow_up', 'abort']) {
    expect(refusalOf(await send(daemon, type, { text: 'ahoy' }))).toMatchObject({ code: 'command_rejected', message: 'no_active_run' });
  }
  expect(refusalOf(await send(daemon, 'set_leaf', { leaf_id: 'msg_1' })).message).toBe('leaf_not_found');
  expect(refusalOf(await send(daemon, 'compact_session')).message).toBe('nothing_to_compact');
  expect(done(await send(daemon, 'list_sessions')).sessions).toEqual([]);
  expect(done(await send(daemon, 'get_state'))).toMatchObject({ session_id: '', run_state: 'idle', steering_mode: 'all' });

  // What was acknowledged is durable.
  await daemon.kill9();
  await daemon.start();
  const asSet = { steering_mode: 'all', follow_up_mode: 'all', active_tools: ['clock'] };
  expect(done(await send(daemon, 'get_state'))).toMatchObject({ session_id: '', ...asSet });
  const { session_id } = done(await send(daemon, 'prompt', { text: 'say first' }));
  expect(done(await send(daemon, 'get_state'))).toMatchObject({ session_id, ...asSet });

  // It was for that session, and is no default.
  done(await send(daemon, 'new_session'));
  expect(done(await send(daemon, 'get_state'))).toMatchObject({ steering_mode: 'one-at-a-time', active_tools: null });
  done(await send(daemon, 'delete_session', { session_id: done(await send(daemon, 'get_state')).session_id as string }));
  expect(done(await send(daemon, 'get_state'))).toMatchObject({ session_id: '', steering_mode: 'one-at-a-time', active_tools: null });
});

test('what was set before there is a session counts for one that is made by new_session, too', async () => {
  await using daemon = await startDaemon();
  done(await send(daemon, 'set_follow_up_mode', { mode: 'all' }));
  const ours = await daemon.raw();
  done(await ours.call('hello', { client: { name: 'ours' } }));
  const other = await newSession(ours);
  expect(done(await ours.call('get_state', { session_id: other })).follow_up_mode).toBe('one-at-a-time');
  const { session_id } = done(await send(daemon, 'new_session'));
  expect(done(await send(daemon, 'get_state'))).toMatchObject({ session_id, follow_up_mode: 'all' });
});

test('a steer that may start a run makes the first session', async () => {
  await using daemon = await startDaemon();
  const { session_id, run_id } = done(await send(daemon, 'steer', { text: 'say ahoy', if_idle: 'prompt' }));
  const events = await listenTo(daemon, { session_id, after: 0 });
  expect((await events.until(isEvent('agent_end', { run_id }))).payload.outcome).toBe('completed');
  expect(done(await send(daemon, 'get_state')).session_id).toBe(session_id);
});

test('content may come without text, and the queue shows what its message will say', async () => {
  await using daemon = await startDaemon();
  const content = (text: string) => [{ type: 'text', text }];
  const { output, session_id } = done(await send(daemon, 'prompt', { content: content('say from content') }));
  expect(output).toBe('from content');
  const events = await listenTo(daemon, { session_id });
  done(await send(daemon, 'prompt', { text: 'ask me', wait: false }));
  await events.until(isEvent('ui_request'));
  done(await send(daemon, 'follow_up', { content: content('say one') }));
  done(await send(daemon, 'steer', { text: 'ignored', content: content('say two') }));
  const { inputs } = done(await send(daemon, 'get_queue'));
  expect((inputs as { text: string }[]).map(({ text }) => text)).toEqual(['say one', 'say two']);
  expect(refusalOf(await send(daemon, 'prompt', {}))).toMatchObject({ code: 'invalid_payload', details: { field: 'text' } });
  done(await send(daemon, 'abort'));
});

test('branch_session takes the session to branch from under either name', async () => {
  await using daemon = await startDaemon();
  const { session_id } = done(await send(daemon, 'prompt', { text: 'say ahoy' }));
  for (const field of ['session_id', 'parent_id']) {
    const branch = done(await send(daemon, 'branch_session', { [field]: session_id }));
    expect(branch).toMatchObject({ parent_id: session_id, active: true });
    expect(done(await send(daemon, 'get_messages')).session_id).toBe(branch.session_id);
  }
  expect(refusalOf(await send(daemon, 'branch_session'))).toMatchObject({ code: 'invalid_payload', details: { field: 'session_id' } });
});
