import { describe, expect, test } from 'vitest';
import { shareDaemon } from '../support/shared-daemon.js';
import { openTalk } from '../support/talk.js';

const daemon = shareDaemon({ wps: 1_000 });

describe('a prompt that waits', () => {
  test('is answered with what the run came to: its last words and its events', async () => {
    const talk = await openTalk(daemon());
    const reply = await talk.commands.call('prompt', { session_id: talk.session, text: 'echo ahoy' });
    expect(reply).toMatchObject({ type: 'result', ok: true, payload: { outcome: 'completed', session_id: talk.session } });
    expect(reply.payload.output).toBe('echo said: ahoy');
    const events = reply.payload.events as {
      type: string;
      seq?: number;
      payload: { message_id?: string; role?: string; run_id: string };
    }[];
    const types = events.map(({ type }) => type);
    expect([types[0], types.at(-1)]).toEqual(['agent_start', 'agent_end']);
    for (const { payload } of events) expect(payload.run_id).toBe(reply.payload.run_id);
    const seqs = events.flatMap(({ seq }) => seq ?? []);
    expect(seqs).toEqual(seqs.toSorted((a, b) => a - b));
    // One delta for each message that has text; here the second of the assistant's.
    const updates = events.filter(({ type }) => type === 'message_update');
    expect(updates).toHaveLength(1);
    expect(updates[0]?.payload).toMatchObject({ offset: 0, delta: 'echo said: ahoy' });
  });

  test('to a run that fails is answered with provider_error', async () => {
    const talk = await openTalk(daemon());
    for (const text of ['fail', 'fail early', 'fail late']) {
      const reply = await talk.commands.call('prompt', { session_id: talk.session, text });
      expect(reply).toMatchObject({ ok: false, error: { code: 'provider_error', message: expect.stringContaining('asked to fail') } });
    }
  });

  test('to a run that is aborted is answered with aborted', async () => {
    const talk = await openTalk(daemon());
    const waiting = talk.commands.call('prompt', { session_id: talk.session, text: 'echo a b for 30 seconds' });
    await talk.until((event) => event.type === 'tool_execution_start');
    const other = await daemon().raw();
    await other.call('abort', { session_id: talk.session });
    expect(await waiting).toMatchObject({ ok: false, error: { code: 'command_rejected', message: 'aborted' } });
  });

  test('blocks nobody on its connection', async () => {
    const talk = await openTalk(daemon());
    const waiting = talk.commands.call('prompt', { session_id: talk.session, text: 'stream 2000 words' });
    expect((await talk.commands.call('ping')).ok).toBe(true);
    expect((await talk.state()).run_state).toBe('running');
    expect((await waiting).ok).toBe(true);
  });

  test('retried with its id waits for the same run and is answered the same', async () => {
    const talk = await openTalk(daemon());
    const payload = { session_id: talk.session, text: 'stream 100 words', input_id: `${talk.session}.w` };
    const other = await daemon().raw();
    const [first, second] = await Promise.all([talk.commands.call('prompt', payload), other.call('prompt', payload)]);
    expect(second.payload).toEqual(first.payload);
    expect((await other.call('prompt', payload)).payload).toEqual(first.payload);
    expect(await talk.texts('user')).toEqual(['stream 100 words']);
  });

  test('is answered when the client has stopped writing', async () => {
    const talk = await openTalk(daemon());
    const client = await daemon().raw();
    client.send({ id: 'half', type: 'prompt', payload: { session_id: talk.session, text: 'stream 50 words' } });
    client.socket.end();
    expect(await client.until(({ id }) => id === 'half')).toMatchObject({ ok: true, type: 'result' });
  });

  test('has the newest events when there are very many, and its reply fits a line', async () => {
    const talk = await openTalk(daemon());
    const waiting = talk.commands.call('prompt', { session_id: talk.session, text: 'call 20 tools' });
    await talk.until((event) => event.type === 'agent_start');
    for (let i = 0; i < 11; i++) await talk.commands.call('follow_up', { session_id: talk.session, text: 'call 20 tools' });
    const reply = await waiting;
    const events = reply.payload.events as { type: string }[];
    expect(events.length).toBeLessThanOrEqual(1_000);
    expect(events.length).toBeGreaterThan(500);
    expect(events.at(-1)?.type).toBe('agent_end');
  });
});

describe('where a prompt starts from', () => {
  test('leaf_id goes back in the history; what came after leaves the path but not the tree', async () => {
    const talk = await openTalk(daemon());
    await talk.run('say one');
    const [first] = await talk.messages();
    const leaf = (await talk.messages())[1]?.id ?? '';
    await talk.run('say two');
    const run = await talk.prompt('say other', { leaf_id: leaf });
    expect(await talk.ended(run)).toBe('completed');
    expect(await talk.texts()).toEqual(['say one', 'one', 'say other', 'other']);
    const { nodes } = await talk.ok('get_tree');
    expect(nodes).toHaveLength(6);
    expect((nodes as { parent_id: string | null }[]).filter(({ parent_id }) => parent_id === leaf)).toHaveLength(2);
    expect(first?.parent_id).toBeNull();
    expect(await talk.refused('prompt', { text: 'x', leaf_id: 'msg_none' })).toBe('leaf_not_found');
  });

  test('leaf_id and set_leaf are refused while a run is in progress, but a retry is answered the same', async () => {
    const talk = await openTalk(daemon());
    await talk.run('say one');
    const leaf = (await talk.messages())[1]?.id ?? '';
    const payload = { text: 'echo a b for 30 seconds', leaf_id: leaf, wait: false, input_id: `${talk.session}.leaf`, if_busy: 'steer' };
    const accepted = await talk.ok('prompt', payload);
    expect(await talk.refused('prompt', { text: 'x', leaf_id: leaf, wait: false })).toBe('run_in_progress');
    expect(await talk.refused('prompt', { text: 'x', leaf_id: leaf, wait: false, if_busy: 'follow_up' })).toBe('run_in_progress');
    expect(await talk.refused('set_leaf', { leaf_id: leaf })).toBe('run_in_progress');
    expect(await talk.ok('prompt', payload)).toEqual(accepted);
    await talk.ok('abort');
    expect(await talk.ended(accepted.run_id)).toBe('aborted');
  });

  test('set_leaf moves the session to any message of its tree', async () => {
    const talk = await openTalk(daemon());
    await talk.run('say one');
    await talk.run('say two');
    const messages = await talk.messages();
    expect(await talk.ok('set_leaf', { leaf_id: messages[1]?.id })).toEqual({ session_id: talk.session, leaf_id: messages[1]?.id });
    expect(await talk.texts()).toEqual(['say one', 'one']);
    await talk.ok('set_leaf', { leaf_id: messages[3]?.id });
    expect(await talk.texts()).toEqual(['say one', 'one', 'say two', 'two']);
    expect(await talk.refused('set_leaf', { leaf_id: 'msg_none' })).toBe('leaf_not_found');
  });

  test('a branch shares its parent’s messages, even while that one runs, and goes its own way', async () => {
    const talk = await openTalk(daemon());
    await talk.run('say one');
    const shared = await talk.messages();
    const run = await talk.prompt('echo a b for 30 seconds');
    await talk.until((event) => event.type === 'tool_execution_start');
    const made = await talk.commands.call('branch_session', { session_id: talk.session, leaf_id: shared[1]?.id });
    expect(made).toMatchObject({ ok: true, type: 'session', payload: { parent_id: talk.session } });
    const branch = await openTalk(daemon(), String(made.payload.session_id));
    expect(await branch.messages()).toEqual(shared);
    expect(await branch.run('say other')).toBe('completed');
    expect(await branch.texts()).toEqual(['say one', 'one', 'say other', 'other']);
    const atEnd = await talk.commands.call('branch_session', { session_id: talk.session });
    const newest = await openTalk(daemon(), String(atEnd.payload.session_id));
    // The last ended entry of a run in progress: the message that made the call.
    expect((await newest.texts('user')).at(-1)).toBe('echo a b for 30 seconds');
    await talk.ok('abort');
    await talk.ended(run);
    // A path that was cut inside tool calls is still a history that a model accepts.
    expect(await newest.run('say on')).toBe('completed');
    expect((await newest.texts()).at(-1)).toBe('on');
    await talk.ok('delete_session');
    expect(await branch.texts()).toEqual(['say one', 'one', 'say other', 'other']);
    expect(await branch.run('say still here')).toBe('completed');
  });
});

describe('after a run that did not complete', () => {
  test('retry asks again from the last user message', async () => {
    const talk = await openTalk(daemon());
    const failed = await talk.prompt('fail late');
    expect(await talk.ended(failed)).toBe('failed');
    const before = await talk.messages();
    expect(before.map(({ role }) => role)).toEqual(['user', 'assistant']);
    const { run_id } = await talk.ok('resume_run', { run_id: failed, action: 'retry' });
    expect(await talk.ended(run_id)).toBe('failed');
    const after = await talk.messages();
    expect(after[0]?.id).toBe(before[0]?.id);
    expect(after[1]?.id).not.toBe(before[1]?.id);
    expect(after).toHaveLength(2);
    const { runs } = await talk.ok('list_runs');
    expect(runs).toMatchObject([
      { run_id, resumes: failed, outcome: 'failed' },
      { run_id: failed, resumes: null },
    ]);
  });

  test('continue leaves what there is and lets the model go on', async () => {
    const talk = await openTalk(daemon());
    const aborted = await talk.prompt('stream 1500 words');
    await talk.until((event) => event.type === 'message_update');
    await talk.ok('abort');
    await talk.ended(aborted);
    const { run_id } = await talk.ok('resume_run', { run_id: aborted, action: 'continue' });
    expect(await talk.ended(run_id)).toBe('completed');
    expect((await talk.messages()).map(({ role }) => role)).toEqual(['user', 'assistant', 'assistant']);
    // The guide goes on with the very next character.
    const words = Array.from({ length: 1500 }, (_, i) => `word${i + 1}`).join(' ');
    expect(
      (await talk.messages())
        .slice(1)
        .map(({ text }) => text)
        .join(''),
    ).toBe(words);
  });

  test('abandon only marks and unpauses; only the last run can be resumed', async () => {
    const talk = await openTalk(daemon());
    const first = await talk.prompt('fail');
    await talk.ended(first);
    expect((await talk.state()).queue.paused).toBe(true);
    await talk.ok('resume_run', { run_id: first, action: 'abandon' });
    expect(await talk.state()).toMatchObject({ run_state: 'idle', queue: { paused: false } });
    await talk.run('say on');
    expect(await talk.refused('resume_run', { run_id: first, action: 'retry' })).toBe('run_not_found');
    expect(await talk.refused('resume_run', { run_id: 'run_none', action: 'retry' })).toBe('run_not_found');
  });
});

test('usage is summed over the session, and told', async () => {
  const talk = await openTalk(daemon());
  await talk.run('say one two three');
  const [first] = talk.events.lines.filter(({ type }) => type === 'usage_update').map(({ payload }) => payload);
  await talk.run('say four');
  const sums = talk.events.lines.filter(({ type }) => type === 'usage_update').map(({ payload }) => payload);
  expect(sums).toHaveLength(2);
  expect(sums[1]?.output).toBe(Number(first?.output) + 1);
  expect((await talk.state()).usage).toMatchObject({ input: sums[1]?.input, output: sums[1]?.output });
  const messages = await talk.messages();
  expect(messages[1]).toMatchObject({ usage: { output: 3 }, stop_reason: 'stop', model: 'offline/guide' });
});

test('thinking is kept as a block of its own', async () => {
  const talk = await openTalk(daemon());
  expect(await talk.run('think about boats')).toBe('completed');
  const [, answer] = await talk.messages();
  expect(answer?.content).toMatchObject([
    { type: 'thinking', thinking: expect.stringContaining('boats') },
    { type: 'text', text: answer?.text },
  ]);
  const deltas = talk.events.lines.filter(({ type }) => type === 'message_update').map(({ payload }) => payload);
  expect(deltas.some(({ block, thinking_delta }) => block === 0 && thinking_delta !== undefined)).toBe(true);
  expect(deltas.some(({ block, delta }) => block === 1 && delta !== undefined)).toBe(true);
});
