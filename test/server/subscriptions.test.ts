import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startDaemon, type TestDaemon } from '../support/daemon.js';
import { startWithHeldModel, type HeldModelDaemon } from '../support/held-model.js';
import type { RawClient, RawLine } from '../support/raw-client.js';
import {
  begin,
  done,
  durable,
  heard,
  isEvent,
  listenTo,
  newSession,
  refusalOf,
  say,
  streamed,
  writtenText,
  type Told,
} from '../support/wire.js';

/** Fast where the pace does not matter, slow where a message takes some time, held where something must happen in its middle. */
let fast: TestDaemon;
let slow: TestDaemon;
let held: HeldModelDaemon;
let client: RawClient;
let patient: RawClient;
let holder: RawClient;

beforeAll(async () => {
  [fast, slow, held] = await Promise.all([startDaemon(), startDaemon({ wps: 400 }), startWithHeldModel()]);
});
beforeEach(async () => {
  [client, patient, holder] = await Promise.all([fast.raw(), slow.raw(), held.raw()]);
});
afterAll(async () => {
  await Promise.all([fast, slow, held].map((daemon) => daemon[Symbol.asyncDispose]()));
});

const seqs = (lines: readonly RawLine[]): number[] => durable(lines).map(({ seq }) => seq!);
const types = (lines: readonly RawLine[]): string[] => lines.map(({ type }) => type);

/** An input that is taken when the message in progress ends, so that more happens in the session afterwards. */
async function mark(events: RawClient): Promise<RawLine> {
  return events.until(isEvent('agent_end'));
}

describe('where a subscription begins', () => {
  test('on the command socket it is told where it belongs', async () => {
    const { code, message } = refusalOf(await client.call('subscribe', { session_id: '*' }));
    expect({ code, message }).toEqual({ code: 'invalid_command', message: expect.stringContaining('.events') });
  });

  test('without a cursor it begins now', async () => {
    const sessionId = await newSession(client);
    await say(client, sessionId, 'say before');
    const head = done(await client.call('get_state', { session_id: sessionId })).seq;
    const events = await listenTo(fast, { session_id: sessionId });
    expect(events.subscribed.payload).toMatchObject({ seq: head, resumed: false, session_id: sessionId });
    await say(client, sessionId, 'say after');
    await mark(events);
    expect(seqs(heard(events))[0]).toBeGreaterThan(head);
    expect(events.lines.filter(isEvent('message_end')).map(({ payload }) => (payload.message as { text: string }).text)).toEqual([
      'say after',
      'after',
    ]);
  });

  test('with a cursor it begins right after it: everything, in order, once', async () => {
    const sessionId = await newSession(client);
    for (let i = 0; i < 5; i++) await say(client, sessionId, 'call 2 tools');
    const all = await listenTo(fast, { session_id: sessionId, after: 0 });
    const last = all.subscribed.payload.seq as number;
    expect(all.subscribed.payload.resumed).toBe(true);
    await all.until(({ seq, ok }) => ok === undefined && seq === last);
    const everything = seqs(heard(all));
    expect(everything).toEqual([...new Set(everything)].sort((a, b) => a - b));
    for (const after of [everything[0]!, everything[10]!, everything.at(-2)!]) {
      const events = await listenTo(fast, { session_id: sessionId, after, log_id: all.subscribed.payload.log_id });
      await events.until(({ seq, ok }) => ok === undefined && seq === last);
      expect(seqs(heard(events))).toEqual(everything.filter((seq) => seq > after));
      events.close();
    }
  });

  test('a durable event is the same line for everyone, live or replayed', async () => {
    const sessionId = await newSession(client);
    const live = await listenTo(fast, { session_id: sessionId });
    const result = await say(client, sessionId, 'call 3 tools');
    await mark(live);
    const replayed = await listenTo(fast, { session_id: sessionId, after: live.subscribed.payload.seq });
    await mark(replayed);
    expect(durable(heard(replayed))).toEqual(durable(heard(live)));
    expect(result.events.filter(({ seq }: RawLine) => seq !== undefined)).toEqual(durable(heard(live)));
    for (const event of durable(heard(live))) {
      expect(event.id).toBe(`evt-${event.seq}`);
      expect(event).toMatchObject({ v: '1', ts: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/), payload: { session_id: sessionId } });
    }
  });

  test('replaying a message that is closed sends its end alone', async () => {
    const sessionId = await newSession(client);
    await say(client, sessionId, 'stream 50 words');
    const events = await listenTo(fast, { session_id: sessionId, after: 0 });
    await mark(events);
    expect(types(heard(events))).not.toContain('message_update');
  });

  test('with a cursor it is told what has no seq, too: the todo list that came after the cursor', async () => {
    const sessionId = await newSession(client);
    const { seq } = done(await client.call('attach', { session_id: sessionId })) as { seq: number };
    await say(client, sessionId, 'plan moor, unload');
    const events = await listenTo(fast, { session_id: sessionId, after: seq });
    const widget = await events.until(isEvent('ui_widget'));
    expect(widget.payload).toMatchObject({ session_id: sessionId, params: { key: 'todo' } });
    expect(JSON.stringify(widget.payload)).toContain('unload');
  });

  test('attach, then subscribe after its seq: nothing is missing and nothing comes twice', async () => {
    const sessionId = await newSession(patient);
    await say(patient, sessionId, 'say one');
    await begin(patient, sessionId, 'stream 100 words');
    const other = await slow.raw();
    const attached = done(await other.call('attach', { session_id: sessionId }));
    const events = await listenTo(slow, { session_id: sessionId, after: attached.seq, log_id: attached.log_id });
    await mark(events);
    const held = attached.messages.map(({ id }: { id: string }) => id);
    const ended = events.lines.filter(isEvent('message_end')).map(({ payload }) => payload.message_id);
    const { messages } = done(await other.call('get_messages', { session_id: sessionId }));
    expect([...held, ...ended]).toEqual(messages.map(({ id }: { id: string }) => id));
  });
});

describe('cursors that are no good', () => {
  test.each([
    ['past the end', (head: number) => ({ after: head + 1 })],
    ['of another log', (head: number) => ({ after: head, log_id: 'log_of_another_store' })],
    ['of another log, from now on', () => ({ log_id: 'log_of_another_store' })],
  ])('one %s is expired, and the answer says where the log is now', async (_, cursor) => {
    const sessionId = await newSession(client);
    const head = done(await client.call('get_state', { session_id: sessionId })).seq as number;
    const events = await fast.rawEvents();
    const reply = await events.call('subscribe', { session_id: sessionId, ...cursor(head) });
    const logId = done(await client.call('get_daemon')).log_id;
    expect(refusalOf(reply)).toMatchObject({ code: 'cursor_expired', details: { seq: head, log_id: logId } });
    // The connection lives on and may try again with what it was told.
    done(await events.call('subscribe', { session_id: sessionId, after: head, log_id: logId }));
    events.close();
  });

  test('a refused subscribe leaves the subscription that there was', async () => {
    const sessionId = await newSession(client);
    const events = await listenTo(fast, { session_id: sessionId });
    refusalOf(await events.call('subscribe', { session_id: sessionId, after: 10 ** 9 }));
    refusalOf(await events.call('subscribe', { session_id: 'ses_nobody' }));
    refusalOf(await events.call('ping'));
    await say(client, sessionId, 'say still here');
    await mark(events);
  });

  test('the cursor at the end is good', async () => {
    const sessionId = await newSession(client);
    const seq = done(await client.call('get_state', { session_id: sessionId })).seq as number;
    const events = await listenTo(fast, { session_id: sessionId, after: seq });
    await say(client, sessionId, 'say ahoy');
    await mark(events);
    expect(seqs(heard(events))[0]).toBe(seq + 1);
  });
});

describe('what a subscription hears', () => {
  test('of one session only its own', async () => {
    const [one, two] = [await newSession(client), await newSession(client)];
    const events = await listenTo(fast, { session_id: one });
    await say(client, two, 'say to two');
    await say(client, one, 'say to one');
    await mark(events);
    expect(new Set(heard(events).map(({ payload }) => payload.session_id))).toEqual(new Set([one]));
  });

  test('of * every session, each in order, with text', async () => {
    const events = await listenTo(fast, { session_id: '*' });
    const ids = await Promise.all(Array.from({ length: 5 }, () => newSession(client)));
    await Promise.all(ids.map((sessionId) => say(client, sessionId, 'stream 200 words')));
    for (const sessionId of ids) await events.until(isEvent('agent_end', { session_id: sessionId }));
    const all = seqs(heard(events));
    expect(all).toEqual([...all].sort((a, b) => a - b));
    for (const sessionId of ids) {
      const start = heard(events).find(isEvent('message_start', { session_id: sessionId, role: 'assistant' }))!;
      expect(writtenText(heard(events), start.payload.message_id!)).toEqual([streamed(200)]);
    }
  });

  test('with live:false nothing without a seq', async () => {
    const sessionId = await newSession(client);
    const events = await listenTo(fast, { session_id: sessionId, live: false });
    await say(client, sessionId, 'stream 300 words');
    await say(client, sessionId, 'echo a b c for 0.05 seconds');
    await events.until((line) => line.type === 'agent_end' && line !== events.lines.find(isEvent('agent_end')));
    expect(heard(events).filter(({ seq }) => seq === undefined)).toEqual([]);
  });

  test('a second subscribe on a connection replaces the first', async () => {
    const [one, two] = [await newSession(client), await newSession(client)];
    const events = await listenTo(fast, { session_id: one });
    const again = await events.call('subscribe', { session_id: two });
    const from = events.lines.indexOf(again) + 1;
    await say(client, one, 'say nobody hears this');
    await say(client, two, 'say this');
    await mark(events);
    expect(new Set(events.lines.slice(from).map(({ payload }) => payload.session_id))).toEqual(new Set([two]));
    // And back, with a cursor: what was missed comes now.
    const back = await events.call('subscribe', { session_id: one, after: 0 });
    await events.until(
      (line) => isEvent('agent_end', { session_id: one })(line) && events.lines.indexOf(line) > events.lines.indexOf(back),
    );
  });

  test('many subscribes on one connection are still one subscription', async () => {
    const sessionId = await newSession(client);
    const events = await fast.rawEvents();
    for (let i = 0; i < 20; i++) done(await events.call('subscribe', { session_id: i % 2 === 0 ? '*' : sessionId }));
    await say(client, sessionId, 'say once');
    await mark(events);
    expect(events.lines.filter(isEvent('agent_start'))).toHaveLength(1);
    const all = seqs(events.lines);
    expect(all).toEqual([...new Set(all)]);
  });

  test('who is attached, as it changes', async () => {
    const sessionId = await newSession(client);
    const watcher = await fast.raw();
    const { client_id } = done(await watcher.call('hello', { client: { name: 'watcher' } }));
    const events = await listenTo(fast, { session_id: sessionId, client_id });
    await events.until((line) => line.type === 'client_update' && JSON.stringify(line.payload).includes('watcher'));
    const guest = await fast.raw();
    done(await guest.call('hello', { client: { name: 'guest' } }));
    done(await guest.call('attach', { session_id: sessionId }));
    await events.until((line) => line.type === 'client_update' && JSON.stringify(line.payload).includes('guest'));
    const before = events.lines.length;
    guest.close();
    await events.until(
      (line) => line.type === 'client_update' && events.lines.indexOf(line) >= before && !JSON.stringify(line.payload).includes('guest'),
    );
    expect(
      done(await watcher.call('get_state', { session_id: sessionId }))
        .clients.map(({ name }: { name: string }) => name)
        .sort(),
    ).toEqual(['unknown', 'watcher']);
  });
});

describe('text by offset', () => {
  test('deltas follow each other and add up to the text of the end', async () => {
    const sessionId = await newSession(patient);
    const events = await listenTo(slow, { session_id: sessionId });
    await begin(patient, sessionId, 'stream 400 words');
    await mark(events);
    const end = events.lines.find(isEvent('message_end', { role: 'assistant' }))!;
    const lines = heard(events);
    const updates = lines.filter(isEvent('message_update'));
    expect(updates.length).toBeGreaterThan(5);
    let at = 0;
    for (const { payload } of updates) {
      expect(payload).toMatchObject({ message_id: end.payload.message_id, block: 0, offset: at, turn_id: '1' });
      at += (payload.delta as string).length;
    }
    expect(writtenText(lines, end.payload.message_id!)).toEqual([(end.payload.message as { text: string }).text]);
    // Neither before its start nor after its end.
    const start = lines.findIndex(isEvent('message_start', { role: 'assistant' }));
    expect(lines.indexOf(updates[0]!)).toBeGreaterThan(start);
    expect(lines.indexOf(updates.at(-1)!)).toBeLessThan(lines.indexOf(end));
  });

  test('the bytes of deltas grow with the text, not with its square', async () => {
    const sessionId = await newSession(client);
    const events = await listenTo(fast, { session_id: sessionId });
    await say(client, sessionId, 'stream 20000 words');
    await mark(events);
    const said = events.lines.filter(isEvent('message_update')).reduce((sum, { payload }) => sum + (payload.delta as string).length, 0);
    expect(said).toBe(streamed(20_000).length);
  });

  test('whoever comes in the middle of a message gets what there is as one delta at offset 0', async () => {
    const sessionId = await newSession(holder);
    const finishAnswer = held.answerNext(streamed(200), 'word100 ');
    const first = await listenTo(held, { session_id: sessionId });
    await begin(holder, sessionId, 'many words');
    const start = await first.until(isEvent('message_start', { role: 'assistant' }));
    await first.until((line) => line.type === 'message_update' && (line.payload.offset as number) > 200);
    const comers = {
      now: await listenTo(held, { session_id: sessionId }),
      all: await listenTo(held, { session_id: '*' }),
      cursor: await listenTo(held, { session_id: sessionId, after: start.seq }),
      beginning: await listenTo(held, { session_id: sessionId, after: 0 }),
    };
    finishAnswer();
    for (const events of Object.values(comers)) {
      await mark(events);
      const lines = heard(events);
      const updates = lines.filter(isEvent('message_update', { message_id: start.payload.message_id }));
      expect(updates[0]?.payload.offset).toBe(0);
      expect((updates[0]?.payload.delta as string).length).toBeGreaterThan(200);
      expect(updates.filter(({ payload }) => payload.offset === 0)).toHaveLength(1);
      expect(writtenText(lines, start.payload.message_id!)).toEqual([streamed(200)]);
    }
  });

  test('the state of a message in progress is in get_state, and deltas go on from it', async () => {
    const sessionId = await newSession(holder);
    const finishAnswer = held.answerNext(streamed(200), 'word100 ');
    const first = await listenTo(held, { session_id: sessionId });
    const runId = await begin(holder, sessionId, 'many words');
    await first.until((line) => line.type === 'message_update' && (line.payload.offset as number) > 100);
    const { partial, run_state, seq } = done(await holder.call('get_state', { session_id: sessionId }));
    expect(run_state).toBe('running');
    expect(partial).toMatchObject([{ role: 'assistant', run_id: runId, turn_id: '1', content: [{ type: 'text' }] }]);
    expect(streamed(200).startsWith(partial[0].content[0].text)).toBe(true);
    const events = await listenTo(held, { session_id: sessionId, after: seq });
    finishAnswer();
    await mark(events);
    expect(writtenText(heard(events), partial[0].message_id)).toEqual([streamed(200)]);
  });

  test('pairs are counted as two and never split, by any reader at any moment', async () => {
    const sessionId = await newSession(holder);
    const stops = Array.from({ length: 8 }, (_, i) => `#${i} `);
    const text = Array.from({ length: 120 }, (_, i) => (i % 3 === 0 ? '😀😀' : i % 3 === 1 ? 'x👩‍👩‍👧' : '𝒳y'))
      .map((word, i) => (i % 15 === 7 ? `${stops[(i - 7) / 15] ?? ''}${word}` : word))
      .join(' ');
    const goOn = held.answerNext(text, ...stops);
    const first = await listenTo(held, { session_id: sessionId });
    await begin(holder, sessionId, 'pairs');
    const readers: RawClient[] = [first];
    for (const stop of stops) {
      const until = text.indexOf(stop);
      await first.until(({ type, payload }) => type === 'message_update' && Number(payload.offset) + String(payload.delta).length >= until);
      readers.push(await listenTo(held, { session_id: sessionId }));
      goOn();
    }
    const { payload } = await first.until(isEvent('message_start', { role: 'assistant' }));
    for (const reader of readers) {
      await mark(reader);
      expect(writtenText(heard(reader), payload.message_id!)).toEqual([text]);
    }
  });

  test('thinking and text are told apart, each by its own block', async () => {
    const sessionId = await newSession(patient);
    const events = await listenTo(slow, { session_id: sessionId });
    await begin(patient, sessionId, 'think about boats');
    await mark(events);
    const end = events.lines.find(isEvent('message_end', { role: 'assistant' }))!;
    const { content } = end.payload.message as { content: Record<string, string>[] };
    expect(content.map(({ type }) => type)).toEqual(['thinking', 'text']);
    expect(writtenText(heard(events), end.payload.message_id!)).toEqual([content[0]?.thinking, content[1]?.text]);
    for (const { payload } of events.lines.filter(isEvent('message_update'))) {
      expect(Object.keys(payload).filter((key) => key.endsWith('delta'))).toEqual([payload.block === 0 ? 'thinking_delta' : 'delta']);
    }
  });

  test('a tool call is introduced by name and its arguments come whole', async () => {
    const sessionId = await newSession(patient);
    const events = await listenTo(slow, { session_id: sessionId });
    await begin(patient, sessionId, 'call 3 tools');
    await mark(events);
    const end = events.lines.find(isEvent('message_end', { role: 'assistant' }))!;
    const { content } = end.payload.message as { content: { type: string; id: string; name: string; arguments: object }[] };
    const updates = events.lines.filter(isEvent('message_update', { message_id: end.payload.message_id }));
    for (const [block, call] of content.entries()) {
      const [first, ...rest] = updates.filter(({ payload }) => payload.block === block);
      expect(first?.payload).toMatchObject({ offset: 0, tool_call_id: call.id, tool_name: call.name });
      for (const { payload } of rest) expect(payload).not.toHaveProperty('tool_name');
    }
    expect(writtenText(heard(events), end.payload.message_id!).map((json) => JSON.parse(json))).toEqual(
      content.map((call) => call.arguments),
    );
  });

  test('however fast a message is over, a live subscription gets all of it before its end', async () => {
    const sessionId = await newSession(client);
    const events = await listenTo(fast, { session_id: sessionId });
    for (const text of ['say ahoy', 'think about boats', 'call 3 tools', 'stream 2000 words']) await say(client, sessionId, text);
    await events.until((line) => line.type === 'agent_end' && events.lines.filter(isEvent('agent_end')).length === 4);
    for (const end of events.lines.filter(isEvent('message_end', { role: 'assistant' }))) {
      const { content } = end.payload.message as { content: Record<string, Told>[] };
      const before = events.lines.slice(0, events.lines.indexOf(end));
      const told = writtenText(before, end.payload.message_id!);
      expect(told.map((text, i) => (content[i]!.type === 'tool_call' ? JSON.parse(text) : text))).toEqual(
        content.map((block) => block.text ?? block.thinking ?? block.arguments),
      );
      expect(writtenText(events.lines.slice(events.lines.indexOf(end)), end.payload.message_id!)).toEqual([]);
    }
  });

  test('what an aborted message had said comes before its end', async () => {
    const sessionId = await newSession(patient);
    const events = await listenTo(slow, { session_id: sessionId });
    await begin(patient, sessionId, 'stream 5000 words');
    await events.until(isEvent('message_update'));
    done(await patient.call('abort', { session_id: sessionId }));
    const end = await events.until(isEvent('message_end', { role: 'assistant' }));
    const { text } = end.payload.message as { text: string };
    expect(text.length).toBeGreaterThan(0);
    expect(writtenText(heard(events), end.payload.message_id!)).toEqual([text]);
  });

  test('a message without a word ends discarded', async () => {
    const sessionId = await newSession(client);
    const events = await listenTo(fast, { session_id: sessionId });
    refusalOf(await client.call('prompt', { text: 'fail', session_id: sessionId }));
    const end = await events.until(isEvent('message_end', { role: 'assistant' }));
    expect(end.payload).toMatchObject({ discarded: true, reason: 'failed' });
    expect(end.payload).not.toHaveProperty('message');
    expect(done(await client.call('get_messages', { session_id: sessionId })).messages).toHaveLength(1);
  });
});

describe('the output of tools', () => {
  test('comes by offset while the tool runs, between its start and its end', async () => {
    const sessionId = await newSession(client);
    const events = await listenTo(fast, { session_id: sessionId });
    const words = Array.from({ length: 20 }, (_, i) => `😀${i}`).join(' ');
    await begin(client, sessionId, `echo ${words} for 0.3 seconds`);
    await mark(events);
    const updates = events.lines.filter(isEvent('tool_execution_update'));
    expect(updates.length).toBeGreaterThan(2);
    let output = '';
    for (const { payload } of updates) {
      expect(payload.offset).toBe(output.length);
      output += payload.delta as string;
    }
    expect(output).toBe(words);
    const order = types(heard(events)).filter((type) => type.startsWith('tool_execution'));
    expect(order[0]).toBe('tool_execution_start');
    expect(order.at(-1)).toBe('tool_execution_end');
  });

  test('one that comes late gets the output so far, and get_state shows it', async () => {
    const sessionId = await newSession(client);
    const events = await listenTo(fast, { session_id: sessionId });
    await begin(client, sessionId, 'echo a b c d e f g h for 30 seconds');
    await events.until(isEvent('tool_execution_update'));
    const { tools } = done(await client.call('get_state', { session_id: sessionId }));
    expect(tools).toMatchObject([{ tool_name: 'echo', args: { seconds: 30 }, output_tail: 'a', offset: 0 }]);
    const late = await listenTo(fast, { session_id: sessionId });
    const update = await late.until(isEvent('tool_execution_update'));
    expect(update.payload).toMatchObject({ offset: 0, delta: 'a', tool_call_id: tools[0].tool_call_id });
    done(await client.call('abort', { session_id: sessionId }));
    await mark(late);
  });

  test('only the end of a long output is kept for who was not there, and the jump is told', async () => {
    const sessionId = await newSession(client);
    const events = await listenTo(fast, { session_id: sessionId });
    // Words of a thousand characters, one at a time: more than is kept, then a long wait for the last.
    const words = Array.from({ length: 100 }, (_, i) => String(i).padStart(1000, '-'));
    await begin(client, sessionId, `echo ${words.join(' ')} for 2 seconds`);
    await events.until((line) => line.type === 'tool_execution_update' && (line.payload.offset as number) > 70_000);
    const late = await listenTo(fast, { session_id: sessionId });
    const update = await late.until(isEvent('tool_execution_update'));
    const { offset, delta, skipped } = update.payload as { offset: number; delta: string; skipped: number };
    expect(offset).toBeGreaterThan(0);
    expect(skipped).toBe(offset);
    expect(delta.length).toBeLessThanOrEqual(64 * 1024);
    expect(words.join(' ').slice(offset, offset + delta.length)).toBe(delta);
    done(await client.call('abort', { session_id: sessionId }));
    await mark(late);
  });
});

describe('goodbye', () => {
  test('a session that is deleted says so and closes its subscriptions, not those of all', async () => {
    const sessionId = await newSession(client);
    const events = await listenTo(fast, { session_id: sessionId });
    const all = await listenTo(fast, { session_id: '*' });
    done(await client.call('delete_session', { session_id: sessionId }));
    await events.ended();
    expect(types(heard(events)).slice(-2)).toEqual(['session_update', 'goodbye']);
    expect(heard(events).at(-2)?.payload).toMatchObject({ session_id: sessionId, deleted: true });
    expect(heard(events).at(-1)).toMatchObject({ payload: { reason: 'session_deleted' } });
    expect(heard(events).at(-1)).not.toHaveProperty('seq');
    await all.until(isEvent('session_update', { session_id: sessionId, deleted: true }));
    await newSession(client);
    await all.until(isEvent('session_update', { created: true }));
    refusalOf(await all.call('subscribe', { session_id: sessionId }));
  });

  test('deleting a session that runs aborts it first, in order', async () => {
    const sessionId = await newSession(patient);
    const events = await listenTo(slow, { session_id: sessionId });
    await begin(patient, sessionId, 'stream 100000 words');
    await events.until(isEvent('message_update'));
    done(await patient.call('delete_session', { session_id: sessionId }));
    expect(refusalOf(await patient.call('prompt', { text: 'x', session_id: sessionId })).code).toBe('session_not_found');
    await events.ended();
    const lines = heard(events);
    expect(lines.find(isEvent('agent_end'))?.payload.outcome).toBe('aborted');
    expect(types(lines).slice(-4)).toEqual(['turn_end', 'agent_end', 'session_update', 'goodbye']);
  });

  test('a line that is too long ends an event connection with a reason', async () => {
    const events = await listenTo(fast, { session_id: '*' });
    events.send('x'.repeat(4 * 1024 * 1024 + 1));
    await events.ended();
    expect(heard(events).at(-1)).toMatchObject({ type: 'goodbye', payload: { reason: 'line_too_long' } });
  });

  test('a daemon that stops settles what runs, tells it, says goodbye to everyone and closes', async () => {
    await using daemon = await startDaemon({ wps: 200 });
    const one = await daemon.raw();
    const sessionId = await newSession(one);
    const events = await listenTo(daemon, { session_id: sessionId });
    const all = await listenTo(daemon, { session_id: '*' });
    const silent = await daemon.rawEvents();
    await begin(one, sessionId, 'stream 100000 words');
    done(await one.call('follow_up', { text: 'say later', session_id: sessionId }));
    await silent.until(isEvent('message_update'));
    await events.until(isEvent('message_update'));
    expect((await one.call('shutdown')).payload).toEqual({ command: 'shutdown' });
    await Promise.all([events, all, silent, one].map((each) => each.ended()));
    for (const each of [events, all, silent]) {
      expect(each.lines.findLast(isEvent('agent_end'))?.payload.outcome).toBe('interrupted');
      expect(each.lines.findLast(isEvent('queue_update'))?.payload).toMatchObject({ op: 'paused', paused: true });
      expect(each.lines.at(-1)).toMatchObject({ type: 'goodbye', payload: { reason: 'shutting_down' } });
      const end = each.lines.findLast(isEvent('message_end', { role: 'assistant' }))!;
      expect(writtenText(each.lines, end.payload.message_id!)).toEqual([(end.payload.message as { text: string }).text]);
    }
    await daemon.start();
    const back = await daemon.raw();
    const state = done(await back.call('get_state', { session_id: sessionId }));
    expect(state).toMatchObject({
      run_state: 'idle',
      last_run: { outcome: 'interrupted' },
      queue: { paused: true, inputs: [{ text: 'say later' }] },
    });
  });
});
