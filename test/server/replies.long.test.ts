import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { limits } from '../../src/protocol/limits.js';
import { startDaemon } from '../support/daemon.js';
import { sized } from '../support/fault-sizes.js';
import { processorMs } from '../support/processor-time.js';
import { shareDaemon } from '../support/shared-daemon.js';
import {
  complaints,
  done,
  durable,
  eventually,
  expectAlive,
  heard,
  isEvent,
  listenTo,
  newSession,
  refusalOf,
  say,
  streamed,
  type Told,
} from '../support/wire.js';

const shared = shareDaemon();

test('ten thousand commands in one write get ten thousand replies in their order', async () => {
  const daemon = shared();
  const client = await daemon.raw();
  const sessionId = await newSession(client);
  const kinds = [
    { type: 'ping', payload: {} },
    { type: 'get_state', payload: { session_id: sessionId } },
    { type: 'list_tools', payload: {} },
    { type: 'no_such_command', payload: {} },
    { type: 'get_messages', payload: { limit: 'x' } },
    { type: 'set_steering_mode', payload: { mode: 'all', session_id: sessionId } },
    { type: 'get_tree', payload: { session_id: 'ses_nobody' } },
  ];
  const answers = ['pong', 'state', 'tools', 'invalid_command', 'invalid_payload', 'accepted', 'session_not_found'];
  const from = client.lines.length;
  client.send(Array.from({ length: 10_000 }, (_, i) => `${JSON.stringify({ id: `n${i}`, ...kinds[i % kinds.length] })}\n`).join(''));
  await client.until(({ id }) => id === 'n9999');
  const replies = client.lines.slice(from);
  expect(replies.map(({ id }) => id)).toEqual(Array.from({ length: 10_000 }, (_, i) => `n${i}`));
  for (const [i, reply] of replies.entries()) expect(reply.error?.code ?? reply.type).toBe(answers[i % answers.length]);
  const seqs = replies.filter(({ ok }) => ok).map(({ seq }) => seq!);
  expect(seqs).toEqual([...seqs].sort((a, b) => a - b));
});

test('a prompt that waits holds up nobody behind it', async () => {
  const daemon = shared();
  const client = await daemon.raw();
  const sessionId = await newSession(client);
  done(await client.call('hello', { ui_capabilities: ['select'] }));
  const events = await listenTo(daemon, { session_id: sessionId });
  const pings = Array.from({ length: 50 }, (_, i) => `p${i}`);
  const lines = [
    // It ends when it is approved, however slow the machine is.
    { id: 'slow', type: 'prompt', payload: { text: 'echo ahoy with approval', session_id: sessionId } },
    ...pings.map((id) => ({ id, type: 'ping' })),
  ];
  const from = client.lines.length;
  client.send(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  await client.until(({ id }) => id === 'p49');
  const request = await events.until(isEvent('ui_request'));
  client.send({ id: 'yes', type: 'ui_response', payload: { request_id: request.payload.request_id, result: 'allow_once' } });
  const { outcome } = done(await client.until(({ id }) => id === 'slow'));
  expect(outcome).toBe('completed');
  expect(client.lines.slice(from).map(({ id }) => id)).toEqual([...pings, 'yes', 'slow']);
});

test('what a waiting prompt answers is the run: its last words, its events, its outcome', async () => {
  const daemon = shared();
  const client = await daemon.raw();
  const sessionId = await newSession(client);
  const events = await listenTo(daemon, { session_id: sessionId, live: false });
  const result = await say(client, sessionId, 'call 2 tools');
  expect(result).toMatchObject({ session_id: sessionId, outcome: 'completed' });
  await events.until(isEvent('agent_end'));
  expect(result.events.filter(({ seq }: { seq?: number }) => seq !== undefined)).toEqual(durable(heard(events)));
  const last = events.lines.findLast(isEvent('message_end'))!;
  expect(result.output).toBe((last.payload.message as { text: string }).text);
  const updates = result.events.filter(({ type }: { type: string }) => type === 'message_update');
  expect(updates.map(({ payload }: Told) => [payload.message_id, payload.offset, payload.delta])).toEqual([
    [last.payload.message_id, 0, result.output],
  ]);
});

test('a run that fails or is aborted is told to whoever waits for it', async () => {
  await using daemon = await startDaemon({ wps: 100 });
  const client = await daemon.raw();
  const sessionId = await newSession(client);
  const failed = await client.call('prompt', { text: 'fail', session_id: sessionId });
  expect(refusalOf(failed)).toMatchObject({ code: 'provider_error', message: expect.stringContaining('asked to fail') });
  const events = await listenTo(daemon, { session_id: sessionId });
  client.send({ id: 'p', type: 'prompt', payload: { text: 'stream 100000 words', session_id: sessionId } });
  await events.until(isEvent('message_update'));
  done(await client.call('abort', { session_id: sessionId }));
  expect(refusalOf(await client.until(({ id }) => id === 'p'))).toMatchObject({ code: 'command_rejected', message: 'aborted' });
  client.send({ id: 'd', type: 'prompt', payload: { text: 'stream 100000 words', session_id: sessionId } });
  // The reply may overtake the event: they come on two sockets.
  const aborted = await events.until(isEvent('agent_end'));
  await events.until((line) => isEvent('agent_start')(line) && line.seq! > aborted.seq!);
  done(await client.call('delete_session', { session_id: sessionId }));
  expect(refusalOf(await client.until(({ id }) => id === 'd'))).toMatchObject({ code: 'command_rejected', message: 'aborted' });
});

test('a peer that only stopped writing still gets every reply, the one it waits for last', async () => {
  await using daemon = await startDaemon({ wps: 200 });
  const client = await daemon.raw();
  const sessionId = await newSession(client);
  const half = await daemon.raw();
  half.send(
    [
      { id: 'a', type: 'ping' },
      { id: 'slow', type: 'prompt', payload: { text: 'stream 40 words', session_id: sessionId } },
      { id: 'b', type: 'get_state', payload: { session_id: sessionId } },
    ]
      .map((line) => `${JSON.stringify(line)}\n`)
      .join(''),
  );
  half.socket.end();
  await half.ended();
  expect(half.lines.map(({ id }) => id)).toEqual(['a', 'b', 'slow']);
  expect(half.lines[2]?.payload.output).toBe(streamed(40));
});

test('a peer that stopped writing after ten thousand commands gets ten thousand replies', async () => {
  const daemon = shared();
  const client = await daemon.raw();
  client.send(Array.from({ length: 10_000 }, (_, i) => `{"id":"n${i}","type":"list_tools"}\n`).join(''));
  client.socket.end();
  await client.ended();
  expect(client.lines.map(({ id }) => id)).toEqual(Array.from({ length: 10_000 }, (_, i) => `n${i}`));
});

test('a peer that vanishes with replies pending costs nothing, and its run goes on', async () => {
  await using daemon = await startDaemon({ wps: 300 });
  const client = await daemon.raw();
  const sessionId = await newSession(client);
  const events = await listenTo(daemon, { session_id: sessionId });
  for (let round = 0; round < 20; round++) {
    const one = await daemon.raw();
    if (round === 0) one.send({ id: 'slow', type: 'prompt', payload: { text: 'stream 100 words', session_id: sessionId } });
    one.send(Array.from({ length: 2_000 }, (_, i) => `{"id":"n${i}","type":"list_sessions"}\n`).join(''));
    if (round === 0) await events.until(isEvent('agent_start'));
    else if (round % 2 === 1) await one.next();
    one.close();
  }
  const end = await events.until(isEvent('agent_end'));
  expect(end.payload.outcome).toBe('completed');
  await expectAlive(daemon);
  expect(complaints(daemon)).toEqual([]);
});

test('a client that asks thousands of times and never reads is not read from any more, and memory stays as it was', async () => {
  await using daemon = await startDaemon();
  const other = await daemon.raw();
  for (let i = 0; i < 10; i++) await newSession(other, { title: 'x'.repeat(200) });
  const times = sized({ short: 4_000, long: 10_000, full: 10_000 });
  const lines = Buffer.from('{"id":"list","type":"list_sessions"}\n'.repeat(times));
  const before = daemon.rssBytes();
  const deaf = Array.from({ length: 4 }, () => daemon.raw());
  const clients = await Promise.all(deaf);
  for (const client of clients) {
    client.socket.pause();
    client.socket.write(lines);
  }
  for (let i = 0; i < 200; i++) expect((await other.call('ping')).type).toBe('pong');
  expect(daemon.rssBytes() - before).toBeLessThan(24 * 1024 * 1024);
  // It wakes up and finds all its answers.
  const [one] = clients;
  one!.socket.resume();
  let count = 0;
  while (count < times) {
    await one!.next();
    count++;
  }
  expect(one!.lines.every(({ ok, id }) => ok && id === 'list')).toBe(true);
});

test('answers that nobody reads are not kept in memory without bound, not even those of prompts that wait', async () => {
  await using daemon = await startDaemon();
  const client = await daemon.raw();
  const sessionId = await newSession(client);
  // About a megabyte of answer, which each of these retries would be given: more than memory may grow by.
  const retries = sized({ short: 90, long: 120, full: 120 });
  const prompt = { text: 'stream 90000 words', session_id: sessionId, input_id: 'again' };
  done(await client.call('prompt', prompt));
  const before = daemon.rssBytes();
  const deaf = await daemon.raw();
  deaf.socket.pause();
  deaf.socket.write(
    Array.from({ length: retries }, (_, i) => `${JSON.stringify({ id: `d${i}`, type: 'prompt', payload: prompt })}\n`).join(''),
  );
  for (let i = 0; i < 50; i++) expect((await client.call('get_state', { session_id: sessionId })).ok).toBe(true);
  expect(daemon.rssBytes() - before).toBeLessThan(64 * 1024 * 1024);
  deaf.socket.resume();
  await deaf.until(({ id }) => id === `d${retries - 1}`);
  expect(deaf.lines.map(({ ok }) => ok)).toEqual(Array(retries).fill(true));
});

test('the same for prompts that wait on a run in progress', async () => {
  await using daemon = await startDaemon({ wps: 0 });
  const client = await daemon.raw();
  const sessionId = await newSession(client);
  const events = await listenTo(daemon, { session_id: sessionId, live: false });
  const deaf = await daemon.raw();
  deaf.socket.pause();
  const prompt = { text: 'stream 90000 words', session_id: sessionId, input_id: 'again' };
  const before = daemon.rssBytes();
  deaf.socket.write(
    Array.from({ length: 300 }, (_, i) => `${JSON.stringify({ id: `d${i}`, type: 'prompt', payload: prompt })}\n`).join(''),
  );
  await events.until(isEvent('agent_end'));
  for (let i = 0; i < 50; i++) expect((await client.call('get_state', { session_id: sessionId })).ok).toBe(true);
  expect(daemon.rssBytes() - before).toBeLessThan(96 * 1024 * 1024);
});

test('many who wait for one run do not slow it down', async () => {
  const waiting = sized({ short: 150, long: 500, full: 500 });
  await using daemon = await startDaemon({ wps: 0 });
  const client = await daemon.raw();
  const sessionId = await newSession(client);
  await say(client, sessionId, 'stream 20000 words');
  const prompt = { text: 'stream 20000 words', session_id: sessionId, input_id: 'together' };
  client.send(Array.from({ length: waiting }, (_, i) => `${JSON.stringify({ id: `t${i}`, type: 'prompt', payload: prompt })}\n`).join(''));
  await client.until(({ id }) => id === `t${waiting - 1}`);
  const { runs } = done(await client.call('list_runs', { session_id: sessionId }));
  const [together, alone] = runs.map(
    (run: { started_at: string; ended_at: string }) => Date.parse(run.ended_at) - Date.parse(run.started_at),
  );
  expect(together).toBeLessThan(10 * alone + 1_000);
});

test('a command that is refused because too many wait already has had no effect', async () => {
  await using daemon = await startDaemon({ wps: 50 });
  const client = await daemon.raw();
  const sessionId = await newSession(client);
  const other = await newSession(client);
  const events = await listenTo(daemon, { session_id: sessionId });
  const waits = { text: 'stream 100000 words', session_id: sessionId, input_id: 'one' };
  client.send(
    Array.from(
      { length: limits.pipelinedWaitingMax },
      (_, i) => `${JSON.stringify({ id: `w${i}`, type: 'prompt', payload: waits })}\n`,
    ).join(''),
  );
  await events.until(isEvent('message_update'));
  const refused = await client.call('prompt', { text: 'say one too many', session_id: other });
  expect(refusalOf(refused)).toMatchObject({ code: 'overloaded', retryable: true });
  expect(done(await client.call('get_messages', { session_id: other })).messages).toEqual([]);
  // What does not wait is still done.
  expect((await client.call('ping')).type).toBe('pong');
  done(await client.call('abort', { session_id: sessionId }));
  await client.until(({ id }) => id === `w${limits.pipelinedWaitingMax - 1}`);
  expect((await say(client, other, 'say now')).output).toBe('now');
});

test('the largest legal commands hold up nobody for long', async () => {
  await using daemon = await startDaemon();
  const client = await daemon.raw();
  const other = await daemon.raw();
  // What the daemon itself works while a ping waits: other processes do not count.
  const workedMs = (): number => processorMs(daemon.pid());
  const heldUpMsMax = 300;
  const long = 'x'.repeat(limits.lineBytesMax - 200);
  for (const type of ['ping', 'prompt', 'search_messages'] as const) {
    const tookMs: number[] = [];
    // Collecting garbage may slow some of the rounds.
    for (let round = 0; round < 6 && !tookMs.some((ms) => ms < heldUpMsMax); round++) {
      const sessionId = await newSession(client);
      const payload = type === 'prompt' ? { text: `hm ${long}`, session_id: sessionId } : { query: 'x', junk: long };
      client.send({ id: `${type}${round}`, type, payload });
      let over = false;
      const answered = client.until(({ id }) => id === `${type}${round}`).then(() => (over = true));
      let slowest = 0;
      while (!over) {
        const from = workedMs();
        await other.call('ping');
        slowest = Math.max(slowest, workedMs() - from);
      }
      await answered;
      tookMs.push(slowest);
    }
    expect(Math.min(...tookMs)).toBeLessThan(heldUpMsMax);
  }
});

test('a reply says at which seq it is true: whoever subscribes after it hears only what is new', async () => {
  const daemon = shared();
  const client = await daemon.raw();
  const sessionId = await newSession(client);
  const changed = await client.call('update_session', { session_id: sessionId, title: 'one' });
  const again = await client.call('update_session', { session_id: sessionId, title: 'two' });
  expect(again.seq).toBeGreaterThan(changed.seq!);
  const events = await listenTo(daemon, { session_id: sessionId, after: changed.seq });
  const next = await events.until(isEvent('session_update'));
  expect(next).toMatchObject({ seq: again.seq, payload: { title: 'two' } });
});

describe('descriptors', () => {
  const descriptors = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;

  test('a reconnect storm leaves no descriptor and no client behind', async () => {
    await using daemon = await startDaemon();
    const client = await daemon.raw();
    const sessionId = await newSession(client);
    const before = descriptors(daemon.pid());
    for (let round = 0; round < sized({ short: 4, long: 8, full: 100 }); round++) {
      const commands = await Promise.all(Array.from({ length: 100 }, () => daemon.raw()));
      const silent = await Promise.all(Array.from({ length: 50 }, () => daemon.rawEvents()));
      const subscribed = await Promise.all(Array.from({ length: 50 }, () => daemon.rawEvents()));
      const { client_id } = done(await commands[0]!.call('hello', { ui_capabilities: ['select'] }));
      await Promise.all(commands.map((one) => one.call('ping')));
      await Promise.all(subscribed.map((one) => one.call('subscribe', { session_id: sessionId, client_id })));
      for (const one of [...commands, ...silent, ...subscribed]) {
        if (round % 2 === 0) one.close();
        else one.socket.end(() => one.close());
      }
    }
    await eventually(async () => {
      expect(done(await client.call('list_clients')).clients).toHaveLength(1);
      expect(descriptors(daemon.pid())).toBeLessThanOrEqual(before);
    });
    expect(done(await client.call('get_state', { session_id: sessionId })).clients).toHaveLength(1);
    expect(complaints(daemon)).toEqual([]);
  });

  test.each([
    ['that said nothing', undefined],
    ['that subscribed to a session', 'session'],
    ['that subscribed to all sessions', '*'],
  ])('event connections %s are let go when their peer is gone, even if nothing ever happens', async (_, subscribe) => {
    await using daemon = await startDaemon();
    const client = await daemon.raw();
    const sessionId = await newSession(client);
    const before = descriptors(daemon.pid());
    const events = await Promise.all(Array.from({ length: 50 }, () => daemon.rawEvents()));
    if (subscribe !== undefined) {
      const payload = { session_id: subscribe === '*' ? '*' : sessionId };
      await Promise.all(events.map((one) => one.call('subscribe', payload)));
    }
    await eventually(() => expect(descriptors(daemon.pid())).toBeGreaterThanOrEqual(before + 50));
    for (const one of events) one.close();
    await eventually(async () => {
      await client.call('ping');
      expect(descriptors(daemon.pid())).toBeLessThanOrEqual(before);
    });
  });

  test('an event connection whose peer only stopped writing goes on hearing', async () => {
    await using daemon = await startDaemon();
    const client = await daemon.raw();
    const sessionId = await newSession(client);
    const events = await listenTo(daemon, { session_id: sessionId });
    events.socket.end();
    await say(client, sessionId, 'say ahoy');
    await events.until(isEvent('agent_end'));
  });
});
