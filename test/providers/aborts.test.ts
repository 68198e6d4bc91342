import { getEventListeners } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ModelDelta } from '../../src/providers/port.js';
import { apis } from '../../src/machine/provider-config.js';
import type { Step } from '../support/fake-model/reply.js';
import { createAsking, collect, key, textOf } from './asking.js';
import { createStrictModel } from './strict-model.js';

const unhandled: unknown[] = [];
const onUnhandled = (reason: unknown): void => void unhandled.push(reason);
beforeAll(() => void process.on('unhandledRejection', onUnhandled));
afterAll(async () => {
  await new Promise((resolve) => setImmediate(resolve));
  process.off('unhandledRejection', onUnhandled);
  expect(unhandled).toEqual([]);
});

function listenersOf(signal: AbortSignal): number {
  return getEventListeners(signal, 'abort').length;
}

describe.each(apis)('an abort of %s', (api) => {
  test('before anything leaves nothing to ask', async () => {
    await using fake = await createStrictModel();
    const signal = AbortSignal.abort();
    expect(await createAsking(api, fake.baseUrl(api)).ask({}, signal)).toEqual([]);
    expect(fake.asked).toEqual([]);
    expect(listenersOf(signal)).toBe(0);
  });

  test.each<[string, Step[]]>([
    ['before the headers', [{ stall: true }]],
    ['after the headers', [{ raw: '' }, { stall: true }]],
    ['in the middle of an event', [{ text: '' }, { raw: 'data: {"unfini' }, { stall: true }]],
  ])('%s ends the stream at once, and the server is hung up on', async (_, steps) => {
    await using fake = await createStrictModel();
    const stop = new AbortController();
    fake.script(steps);
    const asking = createAsking(api, fake.baseUrl(api)).ask({}, stop.signal);
    const asked = await fake.next();
    stop.abort();
    expect((await asking).filter(({ type }) => type !== 'begin')).toEqual([]);
    expect(await asked.closed).toBe('left');
    expect(listenersOf(stop.signal)).toBe(0);
  });

  test('in the middle of an answer leaves what was said', async () => {
    await using fake = await createStrictModel();
    const stop = new AbortController();
    fake.script([{ thinking: 'hm' }, { text: 'some words' }, { stall: true }]);
    const deltas: ModelDelta[] = [];
    for await (const delta of createAsking(api, fake.baseUrl(api)).stream({ thinking: 'low' }, stop.signal)) {
      deltas.push(delta);
      if (textOf(deltas) === 'some words') setImmediate(() => stop.abort());
    }
    expect(textOf(deltas)).toBe('some words');
    expect(deltas.filter(({ type }) => type === 'end' || type === 'failure')).toEqual([]);
    expect(await (await fake.next()).closed).toBe('left');
    expect(listenersOf(stop.signal)).toBe(0);
  });

  test('between two words of a server that goes on and on ends it, too', async () => {
    await using fake = await createStrictModel();
    const stop = new AbortController();
    fake.script([{ text: 'word '.repeat(200_000) }]);
    let words = 0;
    for await (const delta of createAsking(api, fake.baseUrl(api)).stream({}, stop.signal)) {
      expect(delta.type).not.toBe('end');
      expect(delta.type).not.toBe('failure');
      if (delta.type === 'text' && ++words === 3) stop.abort();
    }
    // What had arrived may still be told.
    expect(words).toBeLessThan(200_000);
    expect(await (await fake.next()).closed).toBe('left');
    expect(listenersOf(stop.signal)).toBe(0);
  });

  test('while the command runs that prints the key does not wait for it', async () => {
    await using fake = await createStrictModel();
    const stop = new AbortController();
    let print: (text: string) => void = () => undefined;
    let ran = (): void => undefined;
    const running = new Promise<void>((resolve) => (ran = resolve));
    const runCommand = (): Promise<string> => {
      ran();
      return new Promise((resolve) => (print = resolve));
    };
    const { ask } = createAsking(api, fake.baseUrl(api), { apiKey: null, config: { apiKeyCommand: ['print-key'] }, runCommand });
    const asking = ask({}, stop.signal);
    await running;
    stop.abort();
    expect(await asking).toEqual([]);
    expect(listenersOf(stop.signal)).toBe(0);
    print(key);
    // The key is there for the next one.
    expect(textOf(await ask())).toBe('ok');
    expect(fake.asked).toHaveLength(1);
  });

  test('while a command runs that then fails leaves no rejection behind', async () => {
    await using fake = await createStrictModel();
    const stop = new AbortController();
    let fail: (reason: Error) => void = () => undefined;
    const runCommand = (): Promise<string> => {
      setImmediate(() => stop.abort());
      return new Promise((_, reject) => (fail = reject));
    };
    const { ask } = createAsking(api, fake.baseUrl(api), { apiKey: null, config: { apiKeyCommand: ['print-key'] }, runCommand });
    expect(await ask({}, stop.signal)).toEqual([]);
    fail(new Error('too late'));
    await new Promise((resolve) => setImmediate(resolve));
    expect(unhandled).toEqual([]);
  });

  test('during the second request, after the first was refused, ends the stream', async () => {
    await using fake = await createStrictModel();
    const stop = new AbortController();
    fake.script({ status: 400, body: { error: { message: 'this model does not support thinking' } } }, [{ stall: true }]);
    const asking = createAsking(api, fake.baseUrl(api)).ask({ thinking: 'high' }, stop.signal);
    await fake.next();
    const second = await fake.next();
    stop.abort();
    expect(await asking).toEqual([]);
    expect(await second.closed).toBe('left');
  });

  test('that comes after the end changes nothing', async () => {
    await using fake = await createStrictModel();
    const stop = new AbortController();
    const deltas = await createAsking(api, fake.baseUrl(api)).ask({}, stop.signal);
    stop.abort();
    expect(deltas.at(-1)).toMatchObject({ type: 'end' });
    expect(await (await fake.next()).closed).toBe('done');
  });

  test('that never comes costs no listener, whatever becomes of the requests', async () => {
    await using fake = await createStrictModel();
    const { signal } = new AbortController();
    const { ask, stream } = createAsking(api, fake.baseUrl(api), { idleMs: 120 });
    for (const reply of [[{ text: 'a' }], { status: 500 }, 'reset', [{ text: 'a' }, { cut: true }], [{ stall: true }]] as const) {
      fake.script(reply);
      await ask({}, signal);
      expect(listenersOf(signal)).toBe(0);
    }
    fake.script([{ text: 'a b c' }, { stall: true }]);
    for await (const delta of stream({}, signal)) if (delta.type === 'text') break;
    expect(listenersOf(signal)).toBe(0);
    // A stream that nobody reads has not begun.
    stream({}, signal);
    expect(listenersOf(signal)).toBe(0);
    expect(await collect(stream({}, AbortSignal.abort()))).toEqual([]);
  });
});
