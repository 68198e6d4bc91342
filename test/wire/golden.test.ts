import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { requestShapes } from '../../src/protocol/requests/requests.js';
import { startDaemon, type TestDaemon } from '../support/daemon.js';
import type { RawClient, RawLine } from '../support/raw-client.js';
import { begin, done, durable, heard, isEvent, listenTo, newSession, refusalOf, say } from '../support/wire.js';

// What clients are told, event for event. A change here is a change of the protocol.

let daemon: TestDaemon;
let client: RawClient;
let sessionId: string;
let events: Awaited<ReturnType<typeof listenTo>>;

beforeAll(async () => {
  daemon = await startDaemon();
});
beforeEach(async () => {
  client = await daemon.raw();
  sessionId = await newSession(client);
  events = await listenTo(daemon, { session_id: sessionId });
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

/** A durable event in a word or two: its type and what tells it apart from others of that type. */
function brief({ type, payload }: RawLine): string {
  const { role, kind, tool_name, method, outcome, op, turn_id, discarded, is_error, skipped, by } = payload as Record<string, unknown>;
  const told = {
    turn_start: [kind, turn_id],
    turn_end: [kind, turn_id],
    message_start: [role, turn_id],
    message_end: [role, turn_id, discarded === true ? 'discarded' : ''],
    tool_execution_start: [tool_name],
    tool_execution_end: [tool_name, is_error === true ? 'error' : '', skipped === true ? 'skipped' : ''],
    ui_request: [method],
    status: [payload.request_id === undefined ? '' : 'waiting'],
    ui_resolved: [outcome, by === 'abort' || by === 'steer' ? `by ${by}` : ''],
    agent_end: [outcome],
    queue_update: [op],
  }[type];
  return [type, ...(told ?? [])].filter((word) => word !== '').join(' ');
}

async function transcript(): Promise<string[]> {
  await events.until(isEvent('agent_end'));
  return durable(heard(events)).map(brief);
}

/** Requests as they came over the socket are exactly what the schema says, with nothing beside it. */
function expectTyped(): void {
  const requests = heard(events).filter(isEvent('ui_request'));
  expect(requests.length).toBeGreaterThan(0);
  for (const { payload } of requests) expect(requestShapes.ui_request().parse(payload)).toEqual(payload);
}

const answered = (turn: string): string[] => [`message_start assistant ${turn}`, `message_end assistant ${turn}`, 'usage_update'];
const prompted = ['agent_start', 'turn_start prompt 1', 'message_start user 1', 'message_end user 1'];
const called = (tool: string, turn: string, how = ''): string[] => [
  `tool_execution_start ${tool}`,
  `tool_execution_end ${tool}${how}`,
  `message_start tool_result ${turn}`,
  `message_end tool_result ${turn}`,
];

test('hello', async () => {
  const { output } = await say(client, sessionId, 'hello');
  expect(output).toMatch(/^Hello\. I am the offline guide/);
  expect(await transcript()).toEqual([...prompted, ...answered('1'), 'turn_end prompt 1', 'agent_end completed']);
});

test('call 3 tools', async () => {
  await say(client, sessionId, 'call 3 tools');
  expect(await transcript()).toEqual([
    ...prompted,
    ...answered('1'),
    ...called('clock', '1'),
    ...called('echo', '1'),
    ...called('clock', '1'),
    'turn_end prompt 1',
    'turn_start tool_results 2',
    ...answered('2'),
    'turn_end tool_results 2',
    'agent_end completed',
  ]);
});

test('ask me', async () => {
  await begin(client, sessionId, 'ask me');
  for (const [method, payload] of [
    ['select', { result: 'south' }],
    ['confirm', { result: true }],
    ['input', { cancelled: true }],
    ['editor', { result: 'Day 1: fog' }],
  ] as const) {
    const request = await events.until(isEvent('ui_request', { method }));
    done(await client.call('ui_response', { request_id: request.payload.request_id, ...payload }));
  }
  const asked = (method: string, outcome: string): string[] => {
    const [start, ...end] = called('ask_user', '1');
    return [start!, `ui_request ${method}`, 'status waiting', `ui_resolved ${outcome}`, ...end];
  };
  expect(await transcript()).toEqual([
    ...prompted,
    ...answered('1'),
    ...asked('select', 'answered'),
    ...asked('confirm', 'answered'),
    ...asked('input', 'cancelled'),
    ...asked('editor', 'answered'),
    'turn_end prompt 1',
    'turn_start tool_results 2',
    ...answered('2'),
    'turn_end tool_results 2',
    'agent_end completed',
  ]);
  expectTyped();
});

test('an approval comes before the start of what it approves', async () => {
  await begin(client, sessionId, 'echo ahoy with approval');
  const request = await events.until(isEvent('ui_request', { method: 'select' }));
  expect(request.payload.params).toMatchObject({
    kind: 'approval',
    tool_name: 'echo',
    args: { text: 'ahoy', confirm: true },
    digest: expect.stringMatching(/^[0-9a-f]{64}$/),
    // What clients read before there were the fields below.
    title: expect.any(String),
    message: expect.any(String),
    sandboxed: false,
    workspace: expect.any(String),
    asked_by: { session_id: sessionId, title: expect.any(String), model: expect.any(String) },
    options: expect.arrayContaining([{ value: 'allow_once', label: 'Allow once', key: 'a' }]),
    subject: { kind: 'tool_call' },
    sandbox: null,
    why: expect.any(String),
    notes: [],
    remember: expect.any(Array),
    deny_with_reason: { key: 'r', label: expect.any(String) },
  });
  expectTyped();
  for (const [result, field] of [
    ['allow', 'result'],
    [null, 'result'],
    [{ value: 'deny', reason: 5 }, 'result.reason'],
    [{ value: 'allow_once', reason: 'x' }, 'result.value'],
  ] as const) {
    const refused = await client.call('ui_response', { request_id: request.payload.request_id, result });
    expect(refused).toMatchObject({ ok: false, error: { code: 'invalid_payload', details: { field } } });
  }
  done(await client.call('ui_response', { request_id: request.payload.request_id, result: 'allow_once' }));
  expect(await transcript()).toEqual([
    ...prompted,
    ...answered('1'),
    'ui_request select',
    'status waiting',
    'ui_resolved answered',
    ...called('echo', '1'),
    'turn_end prompt 1',
    'turn_start tool_results 2',
    ...answered('2'),
    'turn_end tool_results 2',
    'agent_end completed',
  ]);
});

test('a denial without a reason ends the run, its call closed in the same commit', async () => {
  await begin(client, sessionId, 'echo ahoy with approval');
  const request = await events.until(isEvent('ui_request'));
  done(await client.call('ui_response', { request_id: request.payload.request_id, result: 'deny' }));
  expect(await transcript()).toEqual([
    ...prompted,
    ...answered('1'),
    'ui_request select',
    'status waiting',
    'ui_resolved answered',
    'status',
    ...called('echo', '1', ' error skipped'),
    'turn_end prompt 1',
    'agent_end aborted',
  ]);
});

test('a steer at a boundary, then a follow_up, continue the same run', async () => {
  await begin(client, sessionId, 'ask me');
  const request = await events.until(isEvent('ui_request'));
  done(await client.call('follow_up', { text: 'say last', session_id: sessionId }));
  done(await client.call('steer', { text: 'say next', session_id: sessionId }));
  done(await client.call('ui_response', { request_id: request.payload.request_id, result: 'south' }));
  const [start, ...end] = called('ask_user', '1');
  expect(await transcript()).toEqual([
    ...prompted,
    ...answered('1'),
    start,
    'ui_request select',
    'status waiting',
    'queue_update added',
    'queue_update added',
    'ui_resolved answered',
    ...end,
    ...called('ask_user', '1', ' error skipped'),
    ...called('ask_user', '1', ' error skipped'),
    ...called('ask_user', '1', ' error skipped'),
    'turn_end prompt 1',
    'queue_update taken',
    'turn_start steer 2',
    'message_start user 2',
    'message_end user 2',
    ...answered('2'),
    'turn_end steer 2',
    'queue_update taken',
    'turn_start follow_up 3',
    'message_start user 3',
    'message_end user 3',
    ...answered('3'),
    'turn_end follow_up 3',
    'agent_end completed',
  ]);
});

test('an abort while a tool waits closes everything in order and drops the queue first', async () => {
  await begin(client, sessionId, 'ask me');
  await events.until(isEvent('ui_request'));
  done(await client.call('follow_up', { text: 'say never', session_id: sessionId }));
  done(await client.call('abort', { session_id: sessionId }));
  const [start, ...end] = called('ask_user', '1', ' error');
  expect(await transcript()).toEqual([
    ...prompted,
    ...answered('1'),
    start,
    'ui_request select',
    'status waiting',
    'queue_update added',
    'status',
    'queue_update dropped',
    'ui_resolved aborted by abort',
    ...end,
    ...called('ask_user', '1', ' error skipped'),
    ...called('ask_user', '1', ' error skipped'),
    ...called('ask_user', '1', ' error skipped'),
    'turn_end prompt 1',
    'agent_end aborted',
  ]);
});

test('a provider that fails before, at and after its first words', async () => {
  for (const [text, said] of [
    ['fail early', []],
    ['fail', ['message_start assistant 1', 'message_end assistant 1 discarded']],
    ['fail late', ['message_start assistant 1', 'message_end assistant 1']],
  ] as const) {
    const own = await newSession(client);
    const told = await listenTo(daemon, { session_id: own });
    refusalOf(await client.call('prompt', { text, session_id: own }));
    await told.until(isEvent('agent_end'));
    expect(durable(heard(told)).map(brief)).toEqual([
      ...prompted,
      ...said,
      'turn_end prompt 1',
      'error',
      'queue_update paused',
      'agent_end failed',
    ]);
  }
});

test('what is in one commit is told in one piece: nothing comes between', async () => {
  const others = await Promise.all(Array.from({ length: 4 }, () => newSession(client)));
  const all = await listenTo(daemon, { session_id: '*' });
  await Promise.all([sessionId, ...others].map((id) => say(client, id, 'call 3 tools')));
  for (const id of [sessionId, ...others]) await all.until(isEvent('agent_end', { session_id: id }));
  const lines = durable(heard(all));
  const together = [
    ['agent_start', 'turn_start', 'message_start', 'message_end'],
    ['tool_execution_end', 'message_start', 'message_end'],
  ];
  for (const [i, line] of lines.entries()) {
    const group = together.find(([first]) => first === line.type);
    if (!group) continue;
    const next = lines.slice(i, i + group.length);
    expect(next.map(({ type }) => type)).toEqual(group);
    expect(next.map(({ seq }) => seq)).toEqual(group.map((_, n) => line.seq! + n));
    expect(new Set(next.map(({ payload }) => payload.session_id)).size).toBe(1);
  }
});

test('every event has the ids of where it belongs', async () => {
  await say(client, sessionId, 'call 2 tools');
  await transcript();
  const runIds = new Set(durable(heard(events)).map(({ payload }) => payload.run_id));
  expect(runIds.size).toBe(1);
  for (const { type, payload } of durable(heard(events))) {
    expect(payload.session_id).toBe(sessionId);
    if (!['agent_start', 'agent_end'].includes(type))
      expect({ type, turn: payload.turn_id }).toEqual({ type, turn: expect.stringMatching(/^[12]$/) });
  }
  const results = durable(heard(events)).filter(isEvent('message_end', { role: 'tool_result' }));
  const ends = durable(heard(events)).filter(isEvent('tool_execution_end'));
  expect(ends.map(({ payload }) => payload.message_id)).toEqual(results.map(({ payload }) => payload.message_id));
  expect(ends.map(({ payload }) => payload.result)).toEqual(results.map(({ payload }) => (payload.message as { text: string }).text));
});
