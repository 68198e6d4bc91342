import { expect, test } from 'vitest';
import { shareDaemon } from '../support/shared-daemon.js';
import { openTalk, type Talk } from '../support/talk.js';

const daemon = shareDaemon({ wps: 200 });

async function expectOneResultForEachCall(talk: Talk): Promise<void> {
  let open: string[] = [];
  for (const message of await talk.messages()) {
    if (message.role === 'tool_result') {
      expect(open).toContain(message.tool_call_id);
      open = open.filter((id) => id !== message.tool_call_id);
      continue;
    }
    expect(open).toEqual([]);
    open = (message.content as { type: string; id: string }[]).filter(({ type }) => type === 'tool_call').map(({ id }) => id);
  }
  expect(open).toEqual([]);
}

test('in mid-tool: every call has exactly one result, and the next prompt works', async () => {
  const talk = await openTalk(daemon());
  const run = await talk.prompt('echo one two three for 30 seconds');
  await talk.until((event) => event.type === 'tool_execution_update');
  expect(await talk.ok('abort')).toMatchObject({ command: 'abort', run_id: run });
  expect(await talk.ended(run)).toBe('aborted');
  await expectOneResultForEachCall(talk);
  expect(await talk.run('say again')).toBe('completed');
  await expectOneResultForEachCall(talk);
  expect((await talk.texts()).at(-1)).toBe('again');
});

test('before the first byte, twice, from another client, and idle: one aborted run and no error', async () => {
  const talk = await openTalk(daemon());
  const other = await daemon().raw();
  const run = await talk.prompt('stream 100000 words');
  const replies = await Promise.all([
    talk.commands.call('abort', { session_id: talk.session }),
    other.call('abort', { session_id: talk.session }),
    other.call('abort', { session_id: talk.session, reason: 'enough' }),
  ]);
  expect(await talk.ended(run)).toBe('aborted');
  const accepted = replies.filter(({ ok }) => ok);
  expect(accepted.length).toBeGreaterThanOrEqual(1);
  for (const reply of accepted) expect(reply.payload.run_id).toBe(run);
  for (const { ok, error } of replies) if (!ok) expect(error?.message).toBe('no_active_run');
  expect(await talk.refused('abort')).toBe('no_active_run');
  expect(talk.told(run).filter((type) => type === 'agent_end')).toHaveLength(1);
  expect(talk.told(run).filter((type) => type === 'status')).toHaveLength(1);
  expect(talk.told(run)).not.toContain('error');
});

test('drops the queue in its first commit: the reply’s seq is at or after the event that tells the texts', async () => {
  const talk = await openTalk(daemon());
  const run = await talk.prompt('stream 100000 words');
  await talk.ok('steer', { text: 'say never', input_id: `${talk.session}.s` });
  const reply = await talk.commands.call('abort', { session_id: talk.session });
  const dropped = await talk.until((event) => event.type === 'queue_update' && event.payload.op === 'dropped');
  expect(dropped.payload.dropped).toEqual([{ input_id: `${talk.session}.s`, kind: 'steer', text: 'say never' }]);
  expect(dropped.seq).toBeLessThanOrEqual(reply.seq ?? 0);
  expect(await talk.ended(run)).toBe('aborted');
  expect(await talk.texts('user')).toEqual(['stream 100000 words']);
});

test('an input that comes during an abort starts the run to come, right after the end of the aborted one', async () => {
  const talk = await openTalk(daemon());
  // Abort and steer in one write: the steer is handled while the run is being aborted.
  for (let round = 0; round < 20; round++) {
    const run = await talk.prompt('stream 100000 words');
    await talk.until((event) => event.type === 'message_update' && event.payload.run_id === run);
    const at = { session_id: talk.session };
    const steer = { ...at, text: `say next ${round}`, if_idle: 'prompt' };
    talk.commands.send(
      `${JSON.stringify({ id: `a${round}`, type: 'abort', payload: at })}\n${JSON.stringify({ id: `s${round}`, type: 'steer', payload: steer })}\n`,
    );
    const next = await talk.commands.until(({ id }) => id === `s${round}`);
    expect(next.ok).toBe(true);
    const nextRun = String(next.payload.run_id);
    expect(nextRun).not.toBe(run);
    expect(await talk.ended(nextRun)).toBe('completed');
    const events = talk.events.lines.filter(({ seq }) => seq !== undefined);
    const end = events.findIndex(({ type, payload }) => type === 'agent_end' && payload.run_id === run);
    expect(events.slice(end, end + 2).map(({ type, seq }) => `${type} ${(seq ?? 0) - (events[end]?.seq ?? 0)}`)).toEqual([
      'agent_end 0',
      'agent_start 1',
    ]);
    expect(events[end + 1]?.payload.run_id).toBe(nextRun);
  }
});

test('is over within 250 ms, or what a busy machine makes of that, a hundred times of a hundred', async () => {
  const talk = await openTalk(daemon());
  const phases = ['stream 100000 words', 'echo a b c d for 30 seconds', `think about ${'a sea '.repeat(48)}`, 'ask me'];
  const took: number[] = [];
  /** What two commits and their replies take on this machine in the same minute. */
  const floor: number[] = [];
  for (let i = 0; i < 100; i++) {
    const begun = performance.now();
    for (const title of ['one', 'two']) await talk.ok('update_session', { title });
    floor.push(performance.now() - begun);
    const run = await talk.prompt(phases[i % phases.length] ?? '');
    if (i % 3 > 0)
      await talk.until((event) => event.type === 'message_start' && event.payload.role === 'assistant' && event.payload.run_id === run);
    if (i % 3 > 1)
      await talk.until((event) => event.type !== 'message_start' && event.payload.run_id === run && event.payload.message_id !== undefined);
    const from = performance.now();
    await talk.ok('abort');
    expect(await talk.ended(run)).toBe('aborted');
    took.push(performance.now() - from);
  }
  for (const times of [took, floor]) times.sort((a, b) => a - b);
  expect(took[98]).toBeLessThanOrEqual(Math.max(250, 4 * (floor[98] ?? 0)));
  await expectOneResultForEachCall(talk);
});

test('a session that is deleted while its tool runs: the run ends, subscribers are told, and nothing follows', async () => {
  const talk = await openTalk(daemon());
  const run = await talk.prompt('echo a b c for 30 seconds');
  await talk.until((event) => event.type === 'tool_execution_start');
  const other = await daemon().raw();
  const waiting = other.call('prompt', { session_id: talk.session, text: 'never', if_busy: 'follow_up' });
  await talk.until((event) => event.type === 'queue_update' && event.payload.op === 'added');
  await talk.ok('delete_session');
  expect(await waiting).toMatchObject({ ok: false, error: { code: 'command_rejected', message: 'aborted' } });
  expect(await talk.refused('prompt', { text: 'x' })).toBe('session_not_found');
  await talk.events.ended();
  const events = talk.events.lines.filter((line) => line.ok === undefined);
  expect(events.filter(({ type }) => type === 'agent_end')).toMatchObject([{ payload: { run_id: run, outcome: 'aborted' } }]);
  expect(events.at(-1)).toMatchObject({ type: 'goodbye', payload: { reason: 'session_deleted' } });
  expect(events.findLast(({ seq }) => seq !== undefined)).toMatchObject({ type: 'session_update', payload: { deleted: true } });
  expect(await talk.refused('get_state')).toBe('session_not_found');
  const { payload } = await talk.commands.call('list_sessions', { limit: 500 });
  expect((payload.sessions as { session_id: string }[]).map(({ session_id }) => session_id)).not.toContain(talk.session);
});
