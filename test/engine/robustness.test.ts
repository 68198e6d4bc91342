import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { limits } from '../../src/protocol/limits.js';
import { startDaemon } from '../support/daemon.js';
import { startWithHeldModel } from '../support/held-model.js';
import { openTalk } from '../support/talk.js';
import { streamed } from '../support/wire.js';

const mib = 1024 * 1024;

test('nonsense from the model: every call has one result, the run ends normally, and the daemon lives', async () => {
  await using daemon = await startDaemon();
  const talk = await openTalk(daemon);
  expect(await talk.run('call nonsense')).toBe('completed');
  const messages = await talk.messages();
  const calls = (messages[1]?.content as { type: string; id: string; problem?: string }[]).filter(({ type }) => type === 'tool_call');
  const results = messages.filter(({ role }) => role === 'tool_result');
  expect(calls).toHaveLength(8);
  expect(new Set(calls.map(({ id }) => id)).size).toBe(8);
  expect(results.map(({ tool_call_id }) => tool_call_id)).toEqual(calls.map(({ id }) => id));
  expect(results.map(({ is_error }) => is_error)).toEqual([true, true, true, true, true, false, false, false]);
  expect(await talk.run('say fine')).toBe('completed');
});

test('a message that does not want to end is stopped with length; memory is bounded and other sessions do not notice', async () => {
  await using daemon = await startDaemon();
  const other = await openTalk(daemon);
  await other.run('say warm');
  // Nobody watches this one: a test that parses ten million characters as they come would measure itself.
  const watching = await daemon.raw();
  const session = String((await watching.call('new_session')).payload.session_id);
  const before = daemon.rssBytes();
  const end = watching.call('prompt', { session_id: session, text: 'stream 1000000 words' });
  let worst = 0;
  for (let i = 0; i < 10; i++) {
    const from = performance.now();
    expect(await other.run('say still here')).toBe('completed');
    worst = Math.max(worst, performance.now() - from);
  }
  expect((await end).payload.outcome).toBe('completed');
  const most = Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${daemon.pid()}/status`, 'utf8'))?.[1]) * 1024;
  const endless = await openTalk(daemon, session);
  const [, answer] = await endless.messages();
  expect(answer).toMatchObject({ stop_reason: 'length', truncated: true, artifact_id: expect.any(String) });
  // What was said is all there, behind the artifact.
  const first = await endless.ok('get_artifact', { artifact_id: answer?.artifact_id });
  expect(first.total_bytes).toBeGreaterThanOrEqual(limits.messageTextUnitsMax);
  expect(first.total_bytes).toBeLessThan(limits.messageTextUnitsMax + 100);
  expect(String(first.data).startsWith(String(answer?.text).slice(0, 1_000))).toBe(true);
  expect(most - before).toBeLessThan(128 * mib);
  expect(worst).toBeLessThan(2_000);
  expect(await endless.run('say done')).toBe('completed');
});

test('more sessions than may run at once: all are accepted, two work at a time, and one that waits can be aborted', async () => {
  await using daemon = await startWithHeldModel({ limits: { runs_at_once: 2 } });
  const finishAnswers = [0, 1].map(() => daemon.answerNext(streamed(40), 'word20 '));
  const talks = await Promise.all(Array.from({ length: 5 }, () => openTalk(daemon)));
  const runs: string[] = [];
  for (const talk of talks) runs.push(await talk.prompt('some words'));
  const [, , third, fourth] = talks;
  await third?.until((event) => event.type === 'agent_start');
  await fourth?.ok('steer', { text: 'dropped' });
  await fourth?.ok('abort');
  expect(await fourth?.ended(runs[3] ?? '')).toBe('aborted');
  for (const finish of finishAnswers) finish();
  expect(fourth?.told()).not.toContain('turn_end'.repeat(2));
  const outcomes = await Promise.all(talks.map((talk, i) => talk.ended(runs[i] ?? '')));
  expect(outcomes).toEqual(['completed', 'completed', 'completed', 'aborted', 'completed']);
  // At no time did a third one speak.
  const edges = talks
    .flatMap(({ events }) => events.lines)
    .filter(({ type, payload }) => payload.role === 'assistant' && (type === 'message_start' || type === 'message_end'))
    .sort((a, b) => (a.seq ?? 0) - (b.seq ?? 0));
  let speaking = 0;
  for (const { type } of edges) {
    speaking += type === 'message_start' ? 1 : -1;
    expect(speaking).toBeLessThanOrEqual(2);
  }
});

test('runs that wait for a person give their place to others', async () => {
  await using daemon = await startDaemon({ config: { limits: { runs_at_once: 1 } } });
  const asking = await Promise.all(Array.from({ length: 3 }, () => openTalk(daemon)));
  const runs: string[] = [];
  for (const talk of asking) {
    runs.push(await talk.prompt('ask me'));
    await talk.until((event) => event.type === 'ui_request');
  }
  const other = await openTalk(daemon);
  expect(await other.run('say not held up')).toBe('completed');
  for (const [i, talk] of asking.entries()) {
    for (let n = 0; n < 4; n++) {
      await talk.until(() => talk.events.lines.filter(({ type }) => type === 'ui_request').length > n);
      const request = talk.events.lines.filter(({ type }) => type === 'ui_request')[n];
      await talk.ok('ui_response', { request_id: request?.payload.request_id, cancelled: true });
    }
    expect(await talk.ended(runs[i] ?? '')).toBe('completed');
  }
});

test('arguments that do not fit, and tools that are not active, are results and not failures', async () => {
  await using daemon = await startDaemon();
  const talk = await openTalk(daemon);
  expect(await talk.run('echo x for 999 seconds')).toBe('completed');
  expect((await talk.texts('tool_result'))[0]).toMatch(/do not fit echo.*seconds/);
  expect(await talk.run('what time is it in Nowhere/Land')).toBe('completed');
  expect((await talk.texts('tool_result')).at(-1)).toContain('Nowhere/Land');
  expect(await talk.ok('set_active_tools', { tools: ['clock'] })).toMatchObject({ count: 1 });
  expect(await talk.refused('set_active_tools', { tools: ['nonesuch'] })).toBe('tool_not_registered');
  expect(await talk.run('echo x')).toBe('completed');
  expect((await talk.texts()).at(-1)).toContain('not active');
});
