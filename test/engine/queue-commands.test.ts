import { expect, test } from 'vitest';
import { shareDaemon } from '../support/shared-daemon.js';
import { openTalk, type Talk } from '../support/talk.js';

const daemon = shareDaemon({ wps: 400 });

/** A run that goes on until it is aborted. */
async function startLongRun(talk: Talk): Promise<string> {
  const run = await talk.prompt('echo tick tock for 60 seconds');
  await talk.until((event) => event.type === 'tool_execution_start' && event.payload.run_id === run);
  return run;
}

/** A run that is inside of a tool until it is let go on. */
async function startHeldRun(talk: Talk): Promise<{ run: string; letGo(): Promise<unknown> }> {
  const run = await talk.prompt('echo ahoy with approval');
  const { payload } = await talk.until((event) => event.type === 'ui_request' && event.payload.run_id === run);
  return { run, letGo: () => talk.ok('ui_response', { request_id: payload.request_id, result: 'allow_once' }) };
}

async function waiting(talk: Talk): Promise<{ input_id: string; text: string; kind: string; hold: boolean; revision: number }[]> {
  return (await talk.ok('get_queue')).inputs as Awaited<ReturnType<typeof waiting>>;
}

test('a steer while text streams is delivered once, at the next boundary', async () => {
  const talk = await openTalk(daemon());
  const run = await talk.prompt('stream 600 words');
  await talk.until((event) => event.type === 'message_update');
  const accepted = await talk.ok('steer', { text: 'say steered' });
  expect(accepted).toMatchObject({ command: 'steer', run_id: run, session_id: talk.session });
  expect(await talk.ended(run)).toBe('completed');
  const texts = await talk.texts();
  expect([texts[0], texts[1]?.split(' ').length, ...texts.slice(2)]).toEqual(['stream 600 words', 600, 'say steered', 'steered']);
});

test('steers while a tool runs come after its result and before the next question, in mode all together', async () => {
  const talk = await openTalk(daemon());
  await talk.ok('set_steering_mode', { mode: 'all' });
  const { run, letGo } = await startHeldRun(talk);
  for (const text of ['say one', 'say two']) await talk.ok('steer', { text });
  await letGo();
  expect(await talk.ended(run)).toBe('completed');
  expect((await talk.messages()).map(({ role, text }) => `${role}: ${text}`)).toEqual([
    'user: echo ahoy with approval',
    'assistant: ',
    'tool_result: ahoy',
    'user: say one',
    'user: say two',
    'assistant: one\ntwo',
  ]);
});

test('in one-at-a-time they come one a boundary, and follow-ups after them in the same run', async () => {
  const talk = await openTalk(daemon());
  const { run, letGo } = await startHeldRun(talk);
  for (const text of ['say f1', 'say f2', 'say f3']) await talk.ok('follow_up', { text });
  for (const text of ['say s1', 'say s2']) await talk.ok('steer', { text });
  expect((await talk.state()).pending_counts).toEqual({ steer: 2, follow_up: 3 });
  await letGo();
  expect(await talk.ended(run)).toBe('completed');
  expect((await talk.texts()).slice(3)).toEqual(['say s1', 's1', 'say s2', 's2', 'say f1', 'f1', 'say f2', 'f2', 'say f3', 'f3']);
  expect(talk.told(run).filter((type) => type === 'turn_start')).toHaveLength(6);
  expect(talk.told(run).filter((type) => type === 'agent_start')).toHaveLength(1);
});

test('a steer skips the calls of a response that have not begun', async () => {
  const talk = await openTalk(daemon());
  const run = await talk.prompt('call 20 tools');
  await talk.until((event) => event.type === 'message_start' && event.payload.role === 'assistant');
  await talk.ok('steer', { text: 'say enough' });
  expect(await talk.ended(run)).toBe('completed');
  const ends = talk.events.lines.filter(({ type }) => type === 'tool_execution_end').map(({ payload }) => payload);
  expect(ends).toHaveLength(20);
  // The first group of calls had its chance: one clock, then the rest is skipped.
  expect(ends.filter(({ skipped }) => !skipped)).toHaveLength(1);
  expect(ends[0]).toMatchObject({ tool_name: 'clock', skipped: false });
  const messages = await talk.messages();
  expect(messages.filter(({ role }) => role === 'tool_result')).toHaveLength(20);
  expect(messages.at(-1)?.text).toBe('enough');
});

test('a prompt to a busy session is refused or queued as it says; retried, it is answered the same', async () => {
  const talk = await openTalk(daemon());
  const run = await startLongRun(talk);
  expect(await talk.refused('prompt', { text: 'x', wait: false })).toBe('run_in_progress');
  const queued = await talk.ok('prompt', { text: 'later', wait: false, if_busy: 'follow_up', input_id: 'inp_busy' });
  expect(queued).toMatchObject({ command: 'prompt', run_id: run, input_id: 'inp_busy' });
  expect(await talk.ok('prompt', { text: 'later', wait: false, if_busy: 'follow_up', input_id: 'inp_busy' })).toEqual(queued);
  expect(await talk.refused('prompt', { text: 'other', wait: false, if_busy: 'follow_up', input_id: 'inp_busy' })).toBe('input_conflict');
  expect(await talk.refused('steer', { text: 'later', input_id: 'inp_busy' })).toBe('input_conflict');
  expect(await waiting(talk)).toMatchObject([{ input_id: 'inp_busy', kind: 'follow_up', text: 'later' }]);
  await talk.ok('abort');
  expect(await talk.ended(run)).toBe('aborted');
  expect(await talk.ok('prompt', { text: 'later', wait: false, if_busy: 'follow_up', input_id: 'inp_busy' })).toEqual(queued);
  expect((await talk.state()).run_state).toBe('idle');
});

test('waiting inputs can be edited, moved, held, released and removed, each change by its revision', async () => {
  const talk = await openTalk(daemon());
  const run = await startLongRun(talk);
  for (const id of ['a', 'b', 'c']) await talk.ok('follow_up', { text: `say ${id}`, input_id: `${talk.session}.${id}` });
  const id = (name: string): string => `${talk.session}.${name}`;
  expect(await talk.ok('update_queued', { input_id: id('a'), revision: 1, text: 'say A' })).toMatchObject({ revision: 2 });
  const conflict = await talk.commands.call('update_queued', { input_id: id('a'), revision: 1, text: 'say B' });
  expect(conflict).toMatchObject({ ok: false, error: { message: 'revision_conflict', details: { revision: 2 } } });
  await talk.ok('update_queued', { input_id: id('c'), revision: 1, position: 0 });
  await talk.ok('update_queued', { input_id: id('b'), revision: 1, hold: true });
  expect((await waiting(talk)).map(({ text, hold, revision }) => `${text} ${hold} ${revision}`)).toEqual([
    'say c false 1',
    'say A false 2',
    'say b true 2',
  ]);
  await talk.ok('remove_queued', { input_id: id('a') });
  expect(await talk.refused('remove_queued', { input_id: id('a') })).toBe('not_waiting');
  expect(await talk.refused('update_queued', { input_id: id('a'), revision: 2, text: 'x' })).toBe('not_waiting');
  expect(await talk.refused('update_queued', { input_id: 'never_was', revision: 1 })).toBe('not_waiting');
  await talk.ok('abort', { keep_queue: true });
  expect(await talk.ended(run)).toBe('aborted');
  expect((await talk.state()).queue.paused).toBe(true);
  const resumed = await talk.ok('resume_queue');
  expect(await talk.ended(resumed.run_id)).toBe('completed');
  expect((await waiting(talk)).map(({ text }) => text)).toEqual(['say b']);
  // Released in an idle, unpaused session it starts a run.
  await talk.ok('update_queued', { input_id: id('b'), revision: 2, hold: false });
  await talk.until((event) => event.type === 'message_end' && (event.payload.message as { text?: string } | undefined)?.text === 'b');
  expect(await talk.texts('user')).toEqual(['echo tick tock for 60 seconds', 'say c', 'say b']);
});

test('clear_queue takes everything out and tells the texts', async () => {
  const talk = await openTalk(daemon());
  const run = await startLongRun(talk);
  for (const text of ['one', 'two']) await talk.ok('follow_up', { text });
  expect(await talk.ok('clear_queue')).toMatchObject({ command: 'clear_queue', count: 2 });
  const { payload } = await talk.until((event) => event.type === 'queue_update' && event.payload.op === 'dropped');
  expect(payload.dropped).toMatchObject([
    { kind: 'follow_up', text: 'one' },
    { kind: 'follow_up', text: 'two' },
  ]);
  await talk.ok('abort');
  expect(await talk.ended(run)).toBe('aborted');
});

test('the queue is full at 200 inputs', async () => {
  const talk = await openTalk(daemon());
  const run = await startLongRun(talk);
  const replies = await Promise.all(
    Array.from({ length: 205 }, (_, i) => talk.commands.call('follow_up', { session_id: talk.session, text: `say ${i}` })),
  );
  expect(replies.filter(({ ok }) => ok)).toHaveLength(200);
  expect(replies.slice(200).map(({ error }) => error?.message)).toEqual(Array.from({ length: 5 }, () => 'queue_full'));
  await talk.ok('abort');
  expect(await talk.ended(run)).toBe('aborted');
  expect(await waiting(talk)).toEqual([]);
});

test('an empty message is refused everywhere', async () => {
  const talk = await openTalk(daemon());
  expect(await talk.refused('prompt', { text: ' \n' })).toBe('empty_prompt');
  expect(await talk.refused('steer', { text: '', if_idle: 'prompt' })).toBe('empty_prompt');
  expect(await talk.refused('follow_up', { text: 'x' })).toBe('no_active_run');
});

test('a failed run pauses the queue; a prompt clears the pause and goes first', async () => {
  const talk = await openTalk(daemon());
  const run = await startLongRun(talk);
  await talk.ok('steer', { text: 'fail' });
  await talk.ok('follow_up', { text: 'say later' });
  await talk.ok('abort', { keep_queue: true });
  await talk.ended(run);
  const { run_id: failing } = await talk.ok('resume_queue');
  expect(await talk.ended(failing)).toBe('failed');
  expect(await talk.state()).toMatchObject({ queue: { paused: true }, last_run: { outcome: 'failed', error: { code: 'provider_error' } } });
  expect(await talk.run('say first')).toBe('completed');
  expect((await talk.texts('user')).slice(-2)).toEqual(['say first', 'say later']);
  expect((await talk.state()).queue).toEqual({ inputs: [], paused: false });
});
