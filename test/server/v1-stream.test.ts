import { expect, test } from 'vitest';
import { limits } from '../../src/protocol/limits.js';
import { startDaemon, type TestDaemon } from '../support/daemon.js';
import { startWithHeldModel } from '../support/held-model.js';
import type { RawClient, RawLine } from '../support/raw-client.js';
import { ageRuns } from '../support/seed-store.js';
import { begin, done, durable, isEvent, listenTo, newSession, refusalOf, say, streamed, writtenText } from '../support/wire.js';

// A client of the first protocol opens the event socket, says nothing and reads.

const seqs = (lines: readonly RawLine[]): number[] => durable(lines).map(({ seq }) => seq!);

/** Every durable event there is, by a client of ours. */
async function wholeLog(daemon: TestDaemon): Promise<RawLine[]> {
  const events = await listenTo(daemon, { session_id: '*', after: 0 });
  await events.until(({ seq, ok }) => ok === undefined && seq === events.subscribed.payload.seq);
  events.close();
  return durable(events.lines.slice(events.lines.indexOf(events.subscribed) + 1));
}

async function until(events: RawClient, count: number, type: string): Promise<void> {
  await events.until(() => events.lines.filter(isEvent(type)).length >= count);
}

test('it hears every session from the moment it was accepted, in order, with text at offsets', async () => {
  await using daemon = await startDaemon({ wps: 400 });
  const client = await daemon.raw();
  const silent = await daemon.rawEvents();
  const ids = [await newSession(client), await newSession(client), await newSession(client)];
  await Promise.all(ids.map((sessionId) => say(client, sessionId, 'stream 60 words')));
  await until(silent, 3, 'agent_end');
  const log = await wholeLog(daemon);
  expect(durable(silent.lines)).toEqual(log);
  for (const end of silent.lines.filter(isEvent('message_end', { role: 'assistant' }))) {
    expect(writtenText(silent.lines, end.payload.message_id!)).toEqual([streamed(60)]);
    const first = silent.lines.find(isEvent('message_update', { message_id: end.payload.message_id }))!;
    expect(silent.lines.indexOf(first)).toBeLessThan(silent.lines.indexOf(end));
  }
  expect(silent.lines.every(({ ok }) => ok === undefined)).toBe(true);
});

test('it is told of runs in progress first: their events from the beginning, then what they have said as one delta', async () => {
  await using daemon = await startWithHeldModel();
  const client = await daemon.raw();
  const quiet = await newSession(client);
  await say(client, quiet, 'say before');
  // A run whose end was heard is not told again.
  await until(await daemon.rawEvents(), 1, 'agent_end');
  const [one, two] = [await newSession(client), await newSession(client)];
  const finishAnswers = [0, 1].map(() => daemon.answerNext(streamed(150), 'word75 '));
  const ours = await listenTo(daemon, { session_id: '*' });
  const runs = [await begin(client, one, 'many words'), await begin(client, two, 'many words')];
  await until(ours, 2, 'message_update');
  const silent = await daemon.rawEvents();
  await until(silent, 2, 'message_update');
  for (const finish of finishAnswers) finish();
  await until(silent, 2, 'agent_end');
  const expected = (await wholeLog(daemon)).filter(({ payload }) => runs.includes(payload.run_id!));
  expect(durable(silent.lines)).toEqual(expected);
  for (const end of silent.lines.filter(isEvent('message_end', { role: 'assistant' }))) {
    const updates = silent.lines.filter(isEvent('message_update', { message_id: end.payload.message_id }));
    expect(updates[0]?.payload.offset).toBe(0);
    expect((updates[0]?.payload.delta as string).length).toBeGreaterThan(20);
    expect(writtenText(silent.lines, end.payload.message_id!)).toEqual([streamed(150)]);
  }
});

test('it is told of runs that have just ended, each text once as a delta at offset 0 before its end', async () => {
  await using daemon = await startDaemon();
  const client = await daemon.raw();
  const sessionId = await newSession(client);
  const { run_id } = await say(client, sessionId, 'call 2 tools');
  const silent = await daemon.rawEvents();
  await until(silent, 1, 'agent_end');
  const expected = (await wholeLog(daemon)).filter(({ payload }) => payload.run_id === run_id);
  expect(durable(silent.lines)).toEqual(expected);
  const last = silent.lines.findLast(isEvent('message_end', { role: 'assistant' }))!;
  const updates = silent.lines.filter(isEvent('message_update', { message_id: last.payload.message_id }));
  expect(updates.map(({ payload }) => [payload.offset, payload.delta])).toEqual([[0, (last.payload.message as { text: string }).text]]);
});

test('runs that ended longer ago are not told', async () => {
  await using daemon = await startDaemon();
  const before = await daemon.raw();
  const sessionId = await newSession(before);
  await say(before, sessionId, 'say long ago');
  await daemon.terminate();
  ageRuns(daemon, limits.v1EndedRunMs);
  await daemon.start();
  const client = await daemon.raw();
  const silent = await daemon.rawEvents();
  const other = await newSession(client);
  await say(client, other, 'say now');
  await until(silent, 1, 'agent_end');
  expect(durable(silent.lines).map(({ payload }) => payload.session_id)).not.toContain(sessionId);
});

test('a client that prompts and then opens the event socket hears the whole run, however fast it was', async () => {
  await using daemon = await startDaemon();
  for (let i = 0; i < 20; i++) {
    const client = await daemon.raw();
    const { run_id } = done(await client.call('prompt', { text: `say answer ${i}`, wait: false }));
    const silent = await daemon.rawEvents();
    await silent.until(isEvent('agent_end', { run_id }));
    const mine = silent.lines.filter(({ payload }) => payload.run_id === run_id);
    expect(mine.filter(({ seq }) => seq !== undefined).map(({ type }) => type)).toEqual([
      'agent_start',
      'turn_start',
      'message_start',
      'message_end',
      'message_start',
      'message_end',
      'usage_update',
      'turn_end',
      'agent_end',
    ]);
    expect(
      mine
        .filter(isEvent('message_update'))
        .map(({ payload }) => payload.delta)
        .join(''),
    ).toBe(`answer ${i}`);
    silent.close();
    client.close();
  }
});

test('whoever subscribes in time gets no v1 stream, whoever does so late is replaced to it', async () => {
  await using daemon = await startDaemon({ wps: 200 });
  const client = await daemon.raw();
  const [one, two] = [await newSession(client), await newSession(client)];
  await begin(client, one, 'stream 400 words');
  // On a busy machine the silence may be over before the line is read; not every time.
  let prompt: RawClient;
  do {
    prompt = await daemon.rawEvents();
    prompt.send({ id: 's', type: 'subscribe', payload: { session_id: two } });
    await prompt.until(({ id }) => id === 's');
  } while (prompt.lines.length > 1);
  const late = await daemon.rawEvents();
  await late.until(isEvent('message_update', { session_id: one }));
  const subscribed = await late.call('subscribe', { session_id: two });
  await say(client, two, 'say ahoy');
  await late.until(isEvent('agent_end', { session_id: two }));
  const after = late.lines.slice(late.lines.indexOf(subscribed) + 1);
  expect(new Set(after.map(({ payload }) => payload.session_id))).toEqual(new Set([two]));
  await prompt.until(isEvent('agent_end', { session_id: two }));
  expect(new Set(prompt.lines.slice(1).map(({ payload }) => payload.session_id))).toEqual(new Set([two]));
});

test('one that says something wrong first is not taken for silent', async () => {
  await using daemon = await startDaemon({ wps: 200 });
  const client = await daemon.raw();
  const sessionId = await newSession(client);
  const other = await newSession(client);
  await begin(client, other, 'stream 100000 words');
  // On a busy machine the silence may be over before the line is read; the run in progress is told then.
  let events: RawClient;
  do {
    events = await daemon.rawEvents();
    expect(refusalOf(await events.call('ping')).code).toBe('invalid_command');
  } while (events.lines.length > 1);
  await say(client, sessionId, 'say ahoy');
  // Long enough for the silence to have been over, on another connection that was opened later.
  const silent = await daemon.rawEvents();
  await until(silent, 1, 'agent_end');
  expect(events.lines).toHaveLength(1);
  done(await events.call('subscribe', { session_id: sessionId, after: 0 }));
  await until(events, 1, 'agent_end');
});

test('blank lines are silence', async () => {
  await using daemon = await startDaemon();
  const client = await daemon.raw();
  const silent = await daemon.rawEvents();
  silent.send('\n\r\n\n');
  const sessionId = await newSession(client);
  await say(client, sessionId, 'say ahoy');
  await until(silent, 1, 'agent_end');
  expect(seqs(silent.lines)).toEqual((await wholeLog(daemon)).map(({ seq }) => seq));
});
