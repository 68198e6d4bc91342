import { describe, expect, test } from 'vitest';
import { apis, type Api } from '../../src/machine/provider-config.js';
import type { Answer, Step, Stop } from '../support/fake-model/reply.js';
import { sse } from '../support/fake-model/voice.js';
import { callsOf, createAsking, textOf, thinkingOf } from './asking.js';
import { createCountingProxy } from './counting-proxy.js';
import { createStrictModel } from './strict-model.js';

const spoken = 'naïve 🙂 “text”\n\n\tof 👩‍👩‍👧 many 🇫🇷 kinds\u2028and 日本語 \u0000 ends 🙂';
const asksCount = 12;

/** What closes an answer, said before the response is over. */
const closing: Record<Api, Step[]> = {
  anthropic: [
    {
      raw:
        sse({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } }, 'message_delta') +
        sse({ type: 'message_stop' }, 'message_stop'),
    },
  ],
  'openai-responses': [{ raw: sse({ type: 'response.completed', response: { status: 'completed', usage: null } }, 'response.completed') }],
  'openai-chat': [{ raw: sse({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }) + sse('[DONE]') }],
};

describe.each(apis)('an answer of %s', (api) => {
  test.each([1, 7, undefined])('is whole and in order when it comes in chunks of %s bytes', async (chunkBytes) => {
    await using fake = await createStrictModel();
    const answer: Answer = { steps: [{ text: spoken, pieces: 23 }], ...(chunkBytes === undefined ? {} : { chunkBytes }) };
    fake.script(answer);
    const deltas = await createAsking(api, fake.baseUrl(api)).ask();
    expect(textOf(deltas)).toBe(spoken);
  });

  test('begins once and ends once, and nothing comes after the end', async () => {
    await using fake = await createStrictModel();
    fake.script([{ thinking: 'hm' }, { text: 'one two three' }, { call: 'echo', args: { text: 'x' } }]);
    const types = (await createAsking(api, fake.baseUrl(api)).ask({ thinking: 'low' })).map(({ type }) => type);
    expect(types.filter((type) => type === 'begin' || type === 'end' || type === 'failure')).toEqual(['begin', 'end']);
    expect(types[0]).toBe('begin');
    expect(types.at(-1)).toBe('end');
  });

  test('counts its blocks from 0, in the order in which they begin', async () => {
    await using fake = await createStrictModel();
    fake.script([{ text: 'words' }, { calls: [{ name: 'echo' }, { name: 'echo' }] }]);
    fake.script([{ thinking: 'hm' }, { text: 'words' }, { calls: [{ name: 'echo' }, { name: 'echo' }] }]);
    const { ask } = createAsking(api, fake.baseUrl(api));
    for (const count of [3, 4]) {
      const blocks = (await ask({ thinking: 'low' })).flatMap((delta) => ('block' in delta ? [delta.block] : []));
      expect([...new Set(blocks)]).toEqual(Array.from({ length: count }, (_, index) => index));
    }
  });

  test('in which nothing is said is asked for once more', async () => {
    await using fake = await createStrictModel();
    fake.script([]);
    expect(await createAsking(api, fake.baseUrl(api)).ask()).toMatchObject([{ type: 'begin' }, { type: 'failure', retry: { once: true } }]);
  });

  test('ends with the tokens that it cost, those of the cache apart', async () => {
    await using fake = await createStrictModel();
    fake.script({ steps: [{ text: 'ok' }], usage: { input: 100, output: 20, cacheRead: 3_000, cacheWrite: 400 } });
    const end = (await createAsking(api, fake.baseUrl(api)).ask()).at(-1);
    const usage = { input: 100, output: 20, cache_read: 3_000, cache_write: 400, cost_usd: null };
    expect(end).toEqual({ type: 'end', stopReason: 'stop', usage });
  });

  test.each<[Stop, Step]>([
    ['stop', { text: 'done' }],
    ['length', { text: 'and so' }],
    ['tool_use', { call: 'echo' }],
  ])('that stops because of %s says so', async (stop, step) => {
    await using fake = await createStrictModel();
    fake.script({ steps: [step], stop });
    expect((await createAsking(api, fake.baseUrl(api)).ask()).at(-1)).toMatchObject({ type: 'end', stopReason: stop });
  });

  test('shows what was thought before what was said', async () => {
    await using fake = await createStrictModel();
    fake.script({ steps: [{ thinking: spoken, pieces: 9 }, { text: 'said' }], chunkBytes: 5 });
    const deltas = await createAsking(api, fake.baseUrl(api)).ask({ thinking: 'high' });
    expect(thinkingOf(deltas)).toBe(spoken);
    expect(textOf(deltas)).toBe('said');
  });

  test('leaves a connection that the next request uses', async () => {
    await using fake = await createStrictModel();
    await using proxy = await createCountingProxy(fake.url);
    const { ask } = createAsking(api, proxy.url);
    for (let i = 0; i < asksCount; i++) expect(textOf(await ask())).toBe('ok');
    // The last bytes of one answer may still be on their way when the next question is put.
    expect(proxy.opened).toBeLessThanOrEqual(2);
  });

  test('that nobody reads to its end is hung up on', async () => {
    await using fake = await createStrictModel();
    await using proxy = await createCountingProxy(fake.url);
    const { stream } = createAsking(api, proxy.url);
    for (let i = 0; i < 3; i++) {
      fake.script([{ text: 'some words' }, { stall: true }]);
      for await (const delta of stream()) if (delta.type === 'text') break;
      expect(await (await fake.next()).closed).toBe('left');
    }
    await proxy.untilOpen(0);
  });

  test('whose connection stays open after its last word is over all the same, and then hung up on', async () => {
    await using fake = await createStrictModel();
    await using proxy = await createCountingProxy(fake.url);
    fake.script([{ text: 'all' }, ...closing[api], { stall: true }]);
    const deltas = await createAsking(api, proxy.url).ask();
    expect(textOf(deltas)).toBe('all');
    expect(deltas.at(-1)).toMatchObject({ type: 'end', stopReason: 'stop' });
    expect(await (await fake.next()).closed).toBe('left');
    await proxy.untilOpen(0);
  });

  test('is asked for as the provider wants it', async () => {
    await using fake = await createStrictModel();
    await createAsking(api, fake.baseUrl(api)).ask({ maxOutput: 1_000 });
    const { body, headers } = await fake.next();
    expect(body).toMatchObject({ model: api === 'anthropic' ? 'claude-sonnet-5-5' : expect.any(String), stream: true });
    expect(headers.authorization).toMatch(/^Bearer sk-test-/);
    expect(body.max_tokens ?? body.max_output_tokens).toBe(1_000);
    expect(JSON.stringify(body)).toContain('You are a model.');
  });

  test('needs neither instructions nor tools', async () => {
    await using fake = await createStrictModel();
    const { ask } = createAsking(api, fake.baseUrl(api));
    for (const system of ['', ' \n']) expect(textOf(await ask({ system, tools: [] }))).toBe('ok');
    expect(callsOf(await ask({ system: '' }))).toEqual([]);
  });
});
