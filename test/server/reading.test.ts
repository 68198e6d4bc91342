import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { limits } from '../../src/protocol/limits.js';
import { startDaemon, type TestDaemon } from '../support/daemon.js';
import type { RawClient } from '../support/raw-client.js';
import { done, heard, isEvent, listenTo, newSession, refusalOf, say, streamed, writtenText, type Told } from '../support/wire.js';

let daemon: TestDaemon;
let client: RawClient;

beforeAll(async () => {
  daemon = await startDaemon();
  client = await daemon.raw();
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

const idOf = ({ id }: { id: string }): string => id;

describe('pages of messages', () => {
  let sessionId: string;
  let ids: string[];

  beforeAll(async () => {
    sessionId = await newSession(client);
    for (let i = 0; i < 15; i++) await say(client, sessionId, `say ${i}`);
    ids = done(await client.call('get_messages', { session_id: sessionId })).messages.map(idOf);
  });

  async function page(payload: object): Promise<{ ids: string[]; has_more: boolean }> {
    const { messages, has_more } = done(await client.call('get_messages', { session_id: sessionId, ...payload }));
    return { ids: messages.map(idOf), has_more };
  }

  test('without a limit all of it comes, oldest first, each after its parent', async () => {
    expect(ids).toHaveLength(30);
    const { messages, leaf_id, has_more, seq } = done(await client.call('get_messages', { session_id: sessionId }));
    expect(messages.map(({ parent_id }: Told) => parent_id)).toEqual([null, ...ids.slice(0, -1)]);
    expect({ leaf_id, has_more }).toEqual({ leaf_id: ids.at(-1), has_more: false });
    expect(seq).toBe(done(await client.call('get_state', { session_id: sessionId })).seq);
    expect(messages[1]).toMatchObject({
      type: 'message',
      role: 'assistant',
      text: '0',
      content: [{ type: 'text', text: '0' }],
      turn_kind: 'prompt',
      stop_reason: 'stop',
      model: 'offline/guide',
      usage: { output: expect.any(Number) },
    });
    expect(messages[0]).toMatchObject({ role: 'user', usage: null, stop_reason: null, model: null });
  });

  test('a limit gives the newest', async () => {
    expect(await page({ limit: 4 })).toEqual({ ids: ids.slice(-4), has_more: true });
    expect(await page({ limit: 30 })).toEqual({ ids, has_more: false });
    expect(await page({ limit: 1 })).toEqual({ ids: ids.slice(-1), has_more: true });
  });

  test('before goes back and after goes forth, both exclusive, over everything once', async () => {
    for (const limit of [1, 7, 30, 500]) {
      const back: string[] = [];
      for (let before: string | undefined; ;) {
        const got = await page({ limit, ...(before === undefined ? {} : { before }) });
        back.unshift(...got.ids);
        if (!got.has_more) break;
        before = got.ids[0]!;
      }
      expect(back).toEqual(ids);
      const forth = [ids[0]!];
      for (;;) {
        const got = await page({ limit, after: forth.at(-1)! });
        forth.push(...got.ids);
        if (!got.has_more) break;
      }
      expect(forth).toEqual(ids);
    }
  });

  test('before the first and after the last there is nothing', async () => {
    expect(await page({ before: ids[0]! })).toEqual({ ids: [], has_more: false });
    expect(await page({ after: ids.at(-1)! })).toEqual({ ids: [], has_more: false });
  });

  test('before and after exclude each other', async () => {
    expect(refusalOf(await client.call('get_messages', { session_id: sessionId, before: ids[3], after: ids[1] }))).toMatchObject({
      code: 'invalid_payload',
    });
  });

  test('a message that is not on the path is no place to page from', async () => {
    const other = await newSession(client);
    await say(client, other, 'say elsewhere');
    const [elsewhere] = done(await client.call('get_messages', { session_id: other })).messages.map(idOf);
    for (const field of ['before', 'after']) {
      expect(refusalOf(await client.call('get_messages', { session_id: sessionId, [field]: elsewhere }))).toMatchObject({
        code: 'invalid_payload',
        details: { field },
      });
      // In this tree, but on the path to another leaf.
      const reply = await client.call('get_messages', { session_id: sessionId, leaf_id: ids[3], [field]: ids[7] });
      expect(refusalOf(reply)).toMatchObject({ code: 'invalid_payload', details: { field } });
    }
  });

  test('attach brings the newest page and the same state as get_state', async () => {
    const one = await daemon.raw();
    const attached = done(await one.call('attach', { session_id: sessionId, limit: 6 }));
    expect(attached.messages.map(idOf)).toEqual(ids.slice(-6));
    expect(attached).toMatchObject({ has_more: true, leaf_id: ids.at(-1), session_id: sessionId });
    const state = done(await one.call('get_state', { session_id: sessionId }));
    expect(attached.state).toEqual(state);
    expect(attached.seq).toBe(state.seq);
    one.close();
  });

  test('a page of large messages ends early and says so, and the rest follows', async () => {
    const large = await newSession(client);
    for (let i = 0; i < 6; i++) await say(client, large, `say ${i} ${'x'.repeat(400_000)}`);
    const seen: string[] = [];
    let pages = 0;
    for (let before: string | undefined; ; pages++) {
      const { messages, has_more } = done(
        await client.call('get_messages', { session_id: large, ...(before === undefined ? {} : { before }) }),
      );
      expect(messages.length).toBeGreaterThan(0);
      seen.unshift(...messages.map(({ text }: { text: string }) => text.slice(0, 6)));
      if (!has_more) break;
      before = messages[0].id;
    }
    expect(pages).toBeGreaterThan(1);
    expect(seen).toEqual(Array.from({ length: 6 }, (_, i) => [`say ${i} `, `${i} xxxx`]).flat());
  });
});

describe('a message too long for a line', () => {
  let sessionId: string;
  let message: Told;
  const words = 200_000;

  beforeAll(async () => {
    sessionId = await newSession(client);
    await say(client, sessionId, `stream ${words} words`);
    [, message] = done(await client.call('get_messages', { session_id: sessionId })).messages;
  });

  async function readArtifact(artifactId: string, limit?: number): Promise<string> {
    const pieces: string[] = [];
    for (let offset = 0; ;) {
      const piece = done(await client.call('get_artifact', { artifact_id: artifactId, offset, ...(limit === undefined ? {} : { limit }) }));
      expect(piece).toMatchObject({ artifact_id: artifactId, mime_type: 'text/plain', offset });
      expect(piece.next_offset).toBe(offset + Buffer.byteLength(piece.data));
      expect(Buffer.byteLength(piece.data)).toBeLessThanOrEqual(limit ?? limits.artifactPageBytesMax);
      pieces.push(piece.data);
      offset = piece.next_offset;
      if (!piece.has_more) {
        expect(offset).toBe(piece.total_bytes);
        return pieces.join('');
      }
      expect(piece.data.length).toBeGreaterThan(0);
    }
  }

  test('is shown cut, says so, and its artifact has all of it', async () => {
    expect(message).toMatchObject({ role: 'assistant', truncated: true, artifact_id: expect.stringMatching(/^art_/) });
    expect(Buffer.byteLength(JSON.stringify(message))).toBeLessThan(limits.lineBytesMax);
    expect(streamed(words).startsWith(message.text)).toBe(true);
    expect((await readArtifact(message.artifact_id)) === streamed(words)).toBe(true);
    expect((await readArtifact(message.artifact_id, 100_001)) === streamed(words)).toBe(true);
  });

  test('is the same in its message_end, replayed, and in attach', async () => {
    const events = await listenTo(daemon, { session_id: sessionId, after: 0 });
    const end = await events.until(isEvent('message_end', { role: 'assistant' }));
    expect(end.payload.message).toEqual(message);
    expect(done(await client.call('attach', { session_id: sessionId })).messages[1]).toEqual(message);
  });

  test('is told whole by deltas to a live subscription, whatever its end shows', async () => {
    const other = await newSession(client);
    const events = await listenTo(daemon, { session_id: other });
    await say(client, other, `stream ${words} words`);
    const end = await events.until(isEvent('message_end', { role: 'assistant' }));
    expect(end.payload.message).toMatchObject({ truncated: true });
    expect(writtenText(heard(events), end.payload.message_id!)[0] === streamed(words)).toBe(true);
    for (const { payload } of events.lines.filter(isEvent('message_update'))) {
      expect((payload.delta as string).length).toBeLessThanOrEqual(limits.deltaUnitsMax);
    }
  });

  test('is given to the model whole', async () => {
    const { events } = await say(client, sessionId, 'say done');
    const usage = events.find(({ type }: { type: string }) => type === 'usage_update').payload;
    expect(usage.input).toBeGreaterThan(words);
  });

  test('pieces never cut a character, wherever they end', async () => {
    const odd = await newSession(client);
    const text = 'a€😀é'.repeat(120_000);
    const frame = { id: 'odd', type: 'prompt', payload: { text: `hm ${text}`, session_id: odd } };
    client.send(frame);
    done(await client.until(({ id }) => id === 'odd'));
    const [user] = done(await client.call('get_messages', { session_id: odd })).messages;
    expect(user.truncated).toBe(true);
    for (const limit of [100_003, 100_004, 100_005, 100_006]) {
      expect((await readArtifact(user.artifact_id, limit)) === `hm ${text}`).toBe(true);
    }
    for (const limit of [4, 5, 6, 7]) {
      const { data, next_offset } = done(await client.call('get_artifact', { artifact_id: user.artifact_id, offset: 3, limit }));
      expect(`hm ${text}`.startsWith(data, 3)).toBe(true);
      expect(next_offset).toBeGreaterThan(3);
    }
  });

  test('past its end there is nothing more', async () => {
    const piece = done(await client.call('get_artifact', { artifact_id: message.artifact_id, offset: 10 ** 9 }));
    expect(piece).toMatchObject({ data: '', has_more: false });
  });

  test('goes with its session', async () => {
    const gone = await newSession(client);
    await say(client, gone, `stream ${words} words`);
    const [, long] = done(await client.call('get_messages', { session_id: gone })).messages;
    done(await client.call('get_artifact', { artifact_id: long.artifact_id }));
    done(await client.call('delete_session', { session_id: gone }));
    for (;;) {
      const reply = await client.call('get_artifact', { artifact_id: long.artifact_id });
      if (reply.ok) continue;
      expect(refusalOf(reply).code).toBe('invalid_payload');
      break;
    }
  });
});

describe('searching', () => {
  let sessionId: string;

  beforeAll(async () => {
    sessionId = await newSession(client);
    for (const text of [
      'The quick brown fox',
      "don't panic: C++ & node.js",
      'naïve café Straße',
      'nai\u0308ve cafe\u0301',
      '東京 タワー',
      'foo_bar_baz',
      'emoji 😀 party',
    ]) {
      await say(client, sessionId, `say ${text}`);
    }
  });

  async function find(query: string, more: object = {}): Promise<string[]> {
    const { messages } = done(await client.call('search_messages', { query, session_id: sessionId, ...more }));
    return messages.filter(({ role }: Told) => role === 'assistant').map(({ snippet }: Told) => snippet);
  }

  test('messages that hold all the words are found, in any case and order', async () => {
    expect(await find('fox')).toEqual(['The quick brown fox']);
    expect(await find('FOX the')).toEqual(['The quick brown fox']);
    expect(await find('fox cat')).toEqual([]);
    expect(await find('東京')).toEqual(['東京 タワー']);
    expect(await find('foo_bar_baz')).toEqual(['foo_bar_baz']);
  });

  test.each([
    '"',
    '*',
    'fox*',
    '^fox',
    'NEAR(fox, 5)',
    'fox OR',
    'AND',
    'NOT fox',
    '(',
    ')',
    '()',
    '{text}: fox',
    'text:fox',
    '-fox',
    '+fox',
    'fox"',
    '"fox',
    "'",
    ';',
    '--',
    '\\',
    '%',
    '_',
    '\u0000',
    '\ud800',
    '😀',
    '. , !',
    'a'.repeat(1_000),
    'fox '.repeat(250),
    '"" ""',
  ])('what a person types is never query syntax: %j', async (query) => {
    const { messages, has_more } = done(await client.call('search_messages', { query, session_id: sessionId }));
    expect(Array.isArray(messages)).toBe(true);
    expect(has_more).toBe(false);
  });

  test('signs around words do not hide them', async () => {
    for (const query of ['"fox"', 'fox!', '(fox)', 'fox*', '-fox', 'fox;', '_ fox', 'fox _', '😀 fox'])
      expect({ query, found: await find(query) }).toEqual({ query, found: ['The quick brown fox'] });
    expect(await find("don't")).toEqual(["don't panic: C++ & node.js"]);
    expect(await find('node.js')).toEqual(["don't panic: C++ & node.js"]);
  });

  test('an accent is found however it was written', async () => {
    for (const query of ['naïve', 'nai\u0308ve', 'naive', 'NAÏVE', 'café', 'cafe\u0301'])
      expect({ query, found: (await find(query)).length }).toEqual({ query, found: 2 });
  });

  test('a hit says where it is, and a limit says whether there are more', async () => {
    const { messages, has_more } = done(await client.call('search_messages', { query: 'fox', limit: 1 }));
    expect(messages).toHaveLength(1);
    expect(has_more).toBe(true);
    expect(messages[0]).toEqual({
      session_id: sessionId,
      message_id: expect.stringMatching(/^msg_/),
      role: expect.any(String),
      snippet: expect.stringContaining('fox'),
      created_at: expect.stringMatching(/Z$/),
    });
    const tree = done(await client.call('get_tree', { session_id: sessionId }));
    expect(tree.nodes.map(idOf)).toContain(messages[0].message_id);
  });

  test('a hit far inside a long message shows the place', async () => {
    const other = await newSession(client);
    await say(client, other, `say ${'padding '.repeat(2_000)} treasure ${'padding '.repeat(10)}`);
    const { messages } = done(await client.call('search_messages', { query: 'treasure', session_id: other }));
    expect(messages).toHaveLength(2);
    for (const { snippet } of messages) expect(snippet).toContain('treasure');
  });
});

describe('runs', () => {
  test('are listed newest first, page by page, with how they ended', async () => {
    const sessionId = await newSession(client);
    await say(client, sessionId, 'say one');
    refusalOf(await client.call('prompt', { text: 'fail', session_id: sessionId }));
    await say(client, sessionId, 'call 2 tools');
    const { runs, has_more } = done(await client.call('list_runs', { session_id: sessionId }));
    expect(has_more).toBe(false);
    expect(runs.map(({ outcome, turns, state }: Told) => [outcome, turns, state])).toEqual([
      ['completed', 2, 'ended'],
      ['failed', 1, 'ended'],
      ['completed', 1, 'ended'],
    ]);
    expect(runs[1].error).toMatchObject({ code: 'provider_error', message: 'the offline guide was asked to fail' });
    const first = done(await client.call('list_runs', { session_id: sessionId, limit: 2 }));
    expect(first.has_more).toBe(true);
    const rest = done(await client.call('list_runs', { session_id: sessionId, limit: 2, before: first.runs[1].run_id }));
    expect([...first.runs, ...rest.runs]).toEqual(runs);
    expect(rest.has_more).toBe(false);
  });
});
