import { expect, test } from 'vitest';
import type { EventPayload } from '../../src/protocol/events.js';
import { limits } from '../../src/protocol/limits.js';
import type { Message, ResultDetails } from '../../src/protocol/messages.js';
import { toolText, type Tool } from '../../src/tools/port.js';
import { createTestEngine, type TestEngine } from '../support/engine.js';
import { foreignTool } from '../support/foreign-tool.js';
import { createGate } from '../support/gate-tool.js';

function weather(details: unknown, changes: Partial<Tool<{ city: string }>> = {}): Tool {
  return foreignTool({ run: () => Promise.resolve(toolText('It rains.', false, details as ResultDetails)), ...changes });
}

async function callOnce(berth: TestEngine, args: unknown = { city: 'Oslo' }): Promise<string> {
  const session = berth.session();
  berth.prompt(session);
  (await berth.model.next()).call('weather', args).end();
  (await berth.model.next()).say('ok').end();
  await berth.idle(session);
  return session;
}

function resultsOf(berth: TestEngine, session: string): Message[] {
  const { messages } = berth.store.entries.page({ leafId: berth.store.load(session)?.leafId ?? null, limit: 99 });
  return messages.map(({ json }) => JSON.parse(json) as Message).filter(({ role }) => role === 'tool_result');
}

function endOf(berth: TestEngine, session: string): EventPayload<'tool_execution_end'> | undefined {
  const ended = berth.events(session).find((event) => event.type === 'tool_execution_end');
  return ended?.type === 'tool_execution_end' ? ended.payload : undefined;
}

const everything = {
  diff: '--- a\n+++ b\n@@ -1 +1 @@\n-x\n+é\n',
  exit_code: 3,
  signal: 'SIGTERM',
  artifact_id: 'art_1',
  counts: { added: 1, removed: 1 },
};

test('the message of a result tells what the events of its call told', async () => {
  await using berth = createTestEngine({ tools: [weather(everything)] });
  const told: unknown[] = [];
  berth.engine.onCommitted((events) => told.push(...events));
  const session = await callOnce(berth);
  const [message] = resultsOf(berth, session);
  const { duration_ms, ...rest } = message?.details ?? {};
  expect(rest).toEqual({ ...everything, title: 'Weather in Oslo' });
  expect(endOf(berth, session)).toMatchObject({ ...everything, duration_ms, result: 'It rains.' });
  expect(duration_ms).toEqual(expect.any(Number));
  // Live and later, whoever reads: the same.
  expect(berth.events(session)).toEqual(told.filter((event) => JSON.stringify(event).includes(session)));
  expect(berth.store.entries.find(message?.id ?? '')).toEqual(message);
});

test('the details of a call are stored once, with its message', async () => {
  await using berth = createTestEngine({ tools: [weather({ diff: 'a diff' })] });
  const session = await callOnce(berth);
  const rows = berth.store.db.prepare<[string], string>('SELECT payload FROM event WHERE session_id = ?').pluck().all(session);
  expect(rows.filter((row) => row.includes('a diff'))).toEqual([]);
  expect(endOf(berth, session)?.diff).toBe('a diff');
});

test('an event of an older version keeps the details in its own row', async () => {
  await using berth = createTestEngine({ tools: [weather({})] });
  const session = await callOnce(berth);
  berth.store.db.exec(`UPDATE entry SET details = NULL;
    UPDATE event SET payload = json_set(payload, '$.diff', 'old diff', '$.exit_code', 7) WHERE type = 'tool_execution_end'`);
  expect(resultsOf(berth, session).map((message) => 'details' in message)).toEqual([false]);
  expect(endOf(berth, session)).toMatchObject({ diff: 'old diff', exit_code: 7, result: 'It rains.' });
});

test('details that a tool makes up are cut to their shape and their limits', async () => {
  const counts = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`n${i}`, i]));
  const hostile = {
    diff: 'é'.repeat(limits.diffBytesMax),
    exit_code: NaN,
    signal: 'S'.repeat(1_000),
    artifact_id: 'a'.repeat(1_000),
    counts: { ['k'.repeat(1_000)]: 1, endless: Infinity, ...counts },
    secret: 'not of the shape',
  };
  await using berth = createTestEngine({ tools: [weather(hostile)] });
  const session = await callOnce(berth);
  const { duration_ms: _any, ...details } = resultsOf(berth, session)[0]?.details ?? {};
  expect(details).toEqual({
    diff: 'é'.repeat(limits.diffBytesMax / 3),
    signal: 'S'.repeat(limits.signalNameCharsMax),
    counts: Object.fromEntries(Object.entries(counts).slice(0, limits.resultCountsMax)),
    title: 'Weather in Oslo',
  });
});

test('a title is cut where the call begins, so that all who show it show the same', async () => {
  await using berth = createTestEngine({ tools: [weather({}, { title: () => '💥'.repeat(1_000) })] });
  const session = await callOnce(berth);
  const title = '💥'.repeat(limits.toolTitleCharsMax / 2);
  expect(berth.events(session).find(({ type }) => type === 'tool_execution_start')?.payload).toMatchObject({ title });
  expect(resultsOf(berth, session)[0]?.details?.title).toBe(title);
});

test('a call that never began has no details, and one that was stopped has its title', async () => {
  const gate = createGate();
  await using berth = createTestEngine({ tools: [gate.tool] });
  const session = berth.session();
  berth.prompt(session);
  (await berth.model.next()).call('gate', { key: 'a' }).call('gate', { key: 'b' }).end();
  await gate.arrive(1);
  berth.abort(session);
  await berth.idle(session);
  expect(resultsOf(berth, session).map(({ skipped, details }) => ({ skipped, details }))).toEqual([
    { skipped: undefined, details: { title: 'gate a' } },
    { skipped: true, details: undefined },
  ]);
});

test('a model is not told the details of a call', async () => {
  await using berth = createTestEngine({ tools: [weather(everything)] });
  await callOnce(berth);
  expect(JSON.stringify(berth.model.asked.at(-1)?.request.messages)).not.toContain('SIGTERM');
});
