import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { limits } from '../../src/protocol/limits.js';
import { startDaemon, type TestDaemon } from '../support/daemon.js';
import { sized } from '../support/fault-sizes.js';
import type { RawClient } from '../support/raw-client.js';
import { begin, done, isEvent, measureLines, newSession, refusalOf, say } from '../support/wire.js';

let daemon: TestDaemon;
let client: RawClient;
let longest: (() => number)[] = [];

beforeAll(async () => {
  daemon = await startDaemon();
});
beforeEach(async () => {
  client = await daemon.raw();
  longest = [measureLines(client)];
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

async function watch(sessionId: string, more: object = {}): Promise<RawClient> {
  const events = await daemon.rawEvents();
  longest.push(measureLines(events));
  events.send({ id: 'sub', type: 'subscribe', payload: { session_id: sessionId, ...more } });
  done(await events.until(({ id }) => id === 'sub'));
  return events;
}

function expectBounded(): void {
  for (const bytes of longest) expect(bytes()).toBeLessThanOrEqual(limits.lineBytesMax);
}

/** Text that fills what is left of a line after its frame. */
function filling(frame: object, unit: string): string {
  const bytes = Buffer.byteLength(JSON.stringify(unit)) - 2;
  return unit.repeat(Math.floor((limits.lineBytesMax - Buffer.byteLength(JSON.stringify(frame)) - 10) / bytes));
}

const unlike = [
  ['control characters', '\u0001'],
  ['pairs', '😀'],
];
const units = [...unlike, ['letters', 'x'], ['quotes', '"']];

describe.each(sized({ short: unlike, long: units, full: units }))('of %s', (_, unit) => {
  test('a prompt that fills a line is stored whole and shown in lines that fit', async () => {
    const sessionId = await newSession(client);
    const events = await watch(sessionId);
    const frame = { v: '1', id: `p-${sessionId}`, type: 'prompt', payload: { text: 'hm ', session_id: sessionId } };
    const text = `hm ${filling(frame, unit)}`;
    client.send({ ...frame, payload: { ...frame.payload, text } });
    done(await client.until(({ id }) => id === frame.id));
    await events.until(isEvent('agent_end'));
    const { messages } = done(await client.call('get_messages', { session_id: sessionId }));
    expect(messages[0]).toMatchObject({ role: 'user', truncated: true });
    expect(text.startsWith(messages[0].text)).toBe(true);
    done(await client.call('attach', { session_id: sessionId }));
    const replay = await watch(sessionId, { after: 0 });
    await replay.until(isEvent('agent_end'));
    let whole = '';
    for (let offset = 0; ;) {
      const piece = done(await client.call('get_artifact', { artifact_id: messages[0].artifact_id, offset }));
      whole += piece.data as string;
      offset = piece.next_offset;
      if (!piece.has_more) break;
    }
    expect(whole === text).toBe(true);
    expectBounded();
    events.close();
    replay.close();
  });

  test('content with keys of its own and images is shown in lines that fit', async () => {
    const sessionId = await newSession(client);
    const events = await watch(sessionId);
    const frame = {
      id: `c-${sessionId}`,
      type: 'prompt',
      payload: { text: 'say x', session_id: sessionId, content: [{ type: 'text', text: 'say x', junk: '' }] },
    };
    const junk = filling(frame, unit);
    client.send({ ...frame, payload: { ...frame.payload, content: [{ type: 'text', text: 'say x', junk }] } });
    done(await client.until(({ id }) => id === frame.id));
    await events.until(isEvent('agent_end'));
    done(await client.call('get_messages', { session_id: sessionId }));
    done(await client.call('attach', { session_id: sessionId }));
    expectBounded();
    events.close();
  });

  test('a queue as long as it may be can be read, attached to, dropped and told of', async () => {
    const sessionId = await newSession(client);
    const events = await watch(sessionId);
    // A history that fills a page by itself.
    for (let i = 0; i < 4; i++) await say(client, sessionId, `hm ${'y'.repeat(490_000)}`);
    await begin(client, sessionId, 'ask me');
    await events.until(isEvent('ui_request'));
    const text = unit.repeat(Math.floor(limits.queuedTextBytesMax / 8 / Buffer.byteLength(unit)) - 10);
    for (let i = 0; i < 8; i++) done(await client.call('steer', { text, session_id: sessionId }));
    expect(refusalOf(await client.call('steer', { text, session_id: sessionId })).message).toBe('queue_full');
    expect(done(await client.call('get_queue', { session_id: sessionId })).inputs).toHaveLength(8);
    expect(done(await client.call('get_state', { session_id: sessionId })).queue.inputs).toHaveLength(8);
    const attached = done(await client.call('attach', { session_id: sessionId }));
    expect(attached.messages.length).toBeGreaterThan(0);
    done(await client.call('abort', { session_id: sessionId }));
    await events.until(isEvent('queue_update', { op: 'dropped' }));
    expectBounded();
    events.close();
  });

  test('an answer that fills a line is told in a line that fits, or refused', async () => {
    const sessionId = await newSession(client);
    const events = await watch(sessionId);
    await begin(client, sessionId, 'ask me');
    for (const [method, result] of [
      ['select', 'north'],
      ['confirm', true],
    ] as const) {
      const { payload } = await events.until(isEvent('ui_request', { method }));
      done(await client.call('ui_response', { request_id: payload.request_id, result }));
    }
    const { payload } = await events.until(isEvent('ui_request', { method: 'input' }));
    const frame = { id: `a-${sessionId}`, type: 'ui_response', payload: { request_id: payload.request_id, result: '' } };
    client.send({ ...frame, payload: { ...frame.payload, result: filling(frame, unit) } });
    const reply = await client.until(({ id }) => id === frame.id);
    if (!reply.ok) {
      expect(refusalOf(reply)).toMatchObject({ code: 'invalid_payload', details: { field: 'result' } });
      done(await client.call('abort', { session_id: sessionId }));
    } else {
      const { payload: last } = await events.until(isEvent('ui_request', { method: 'editor' }));
      done(await client.call('ui_response', { request_id: last.request_id, cancelled: true }));
    }
    await events.until(isEvent('agent_end'));
    expectBounded();
    events.close();
  });
});

test('a page of sessions ends early with has_more rather than not at all', async () => {
  const other = await startDaemon();
  const one = await other.raw();
  const measured = measureLines(one);
  const cwd = `/${'\u0001'.repeat(limits.pathBytesMax - 1)}`;
  const made = await Promise.all(Array.from({ length: 250 }, () => newSession(one, { cwd })));
  const seen: string[] = [];
  for (let cursor: string | undefined; ;) {
    const page = done(await one.call('list_sessions', { limit: 500, ...(cursor === undefined ? {} : { cursor }) }));
    expect(page.sessions.length).toBeGreaterThan(0);
    seen.push(...page.sessions.map(({ session_id }: { session_id: string }) => session_id));
    expect(page.has_more).toBe(page.cursor !== null);
    if (!page.has_more) break;
    cursor = page.cursor;
  }
  expect(seen.sort()).toEqual(made.sort());
  expect(measured()).toBeLessThanOrEqual(limits.lineBytesMax);
  await other[Symbol.asyncDispose]();
});

test('a page of search hits fits a line, however odd the text', async () => {
  const sessionId = await newSession(client);
  const { input_id } = done(await client.call('prompt', { text: 'say x', session_id: sessionId, wait: false }));
  expect(input_id).toMatch(/^inp_/);
  for (let i = 0; i < 30; i++) done(await client.call('prompt', { text: `say needle ${'\u0001'.repeat(500)}`, session_id: sessionId }));
  const { messages } = done(await client.call('search_messages', { query: 'needle', limit: 500 }));
  expect(messages).toHaveLength(60);
  expectBounded();
});

test('a tree of many odd messages fits a line', async () => {
  const sessionId = await newSession(client);
  for (let i = 0; i < 30; i++) done(await client.call('prompt', { text: `say ${'\u0001'.repeat(200)}`, session_id: sessionId }));
  const { nodes, has_more } = done(await client.call('get_tree', { session_id: sessionId }));
  expect(nodes).toHaveLength(60);
  expect(has_more).toBe(false);
  for (const { snippet } of nodes) expect(snippet.length).toBeLessThanOrEqual(limits.snippetCharsMax);
  expectBounded();
});

test('many clients with long names can be listed', async () => {
  const count = sized({ short: 100, long: 400, full: 400 });
  const other = await startDaemon();
  const one = await other.raw();
  const measured = measureLines(one);
  const sessionId = await newSession(one);
  const name = '\u0001'.repeat(100);
  const crowd = await Promise.all(Array.from({ length: count }, () => other.raw()));
  for (const each of crowd) done(await each.call('hello', { client: { name, version: name, kind: name } }));
  for (const each of crowd) done(await each.call('attach', { session_id: sessionId }));
  expect(done(await one.call('list_clients')).clients).toHaveLength(count + 1);
  expect(done(await one.call('get_state', { session_id: sessionId })).clients).toHaveLength(count + 1);
  expect(measured()).toBeLessThanOrEqual(limits.lineBytesMax);
  await other[Symbol.asyncDispose]();
});
