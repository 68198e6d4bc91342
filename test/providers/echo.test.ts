import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { createEchoTool } from '../../src/providers/offline/echo.js';
import { toolText } from '../../src/tools/port.js';
import { badFields, toolContext } from '../support/tool-context.js';

function createContext(signal = new AbortController().signal, onOutput: (text: string) => void = () => {}) {
  const heard: string[] = [];
  const context = toolContext({
    cwd: '/',
    signal,
    output: (text) => {
      heard.push(text);
      onOutput(text);
    },
    ask: () => expect.unreachable(),
  });
  return { context, heard };
}

function createFakeTime(lateMs = 0) {
  let nowMs = 0;
  return { now: () => nowMs, sleep: async (ms: number) => void (nowMs += ms + lateMs) };
}

function countTimers(): number {
  return process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
}

/** The test runner has short timers of its own, so this waits a little for them. */
async function untilTimers(count: number): Promise<void> {
  const endMs = performance.now() + 20_000;
  while (countTimers() > count && performance.now() < endMs) await new Promise((resolve) => setImmediate(resolve));
  expect(countTimers()).toBeLessThanOrEqual(count);
}

test('without seconds the text comes back at once', async () => {
  const { context, heard } = createContext();
  const echo = createEchoTool({ sleep: () => expect.unreachable() });
  expect(await echo.run({ text: 'ahoy\nthere 🙂' }, context)).toEqual(toolText('ahoy\nthere 🙂'));
  expect(heard).toEqual(['ahoy\nthere 🙂']);
  expect(await echo.run({ text: 'x', seconds: 0 }, context)).toEqual(toolText('x'));
});

test('with seconds the words are spread over them', async () => {
  const time = createFakeTime();
  const at: number[] = [];
  const { context, heard } = createContext(undefined, () => at.push(time.now()));
  expect(await createEchoTool(time).run({ text: ' one two  three four ', seconds: 10 }, context)).toEqual(
    toolText(' one two  three four '),
  );
  expect(heard).toEqual([' one', ' two', '  three', ' four', ' ']);
  expect(at).toEqual([0, 2_000, 4_000, 6_000, 8_000]);
  expect(time.now()).toBe(10_000);
});

test('a hundred thousand words in a second take a second, not a timer each', async () => {
  const time = createFakeTime(1);
  const { context, heard } = createContext();
  const text = 'w '.repeat(100_000);
  expect(await createEchoTool(time).run({ text, seconds: 1 }, context)).toEqual(toolText(text));
  expect(heard.join('')).toBe(text);
  expect(time.now()).toBeLessThan(1_010);
});

test('stopped in between, it says so and leaves neither word, timer nor listener', async () => {
  const stop = new AbortController();
  const timers = countTimers();
  const { context, heard } = createContext(stop.signal, () => setImmediate(() => stop.abort()));
  expect(await createEchoTool().run({ text: 'one two three', seconds: 300 }, context)).toEqual(toolText('stopped', true));
  expect(heard).toEqual(['one']);
  expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
  await untilTimers(timers);
});

test('stopped before it began, it says nothing', async () => {
  for (const seconds of [0, 5]) {
    const { context, heard } = createContext(AbortSignal.abort());
    expect(await createEchoTool().run({ text: 'x', seconds }, context)).toEqual(toolText('stopped', true));
    expect(heard).toEqual([]);
  }
});

test('a person is asked only when the call says so', () => {
  const echo = createEchoTool();
  expect(echo.approval?.({ text: 'x' })).toBeUndefined();
  expect(echo.approval?.({ text: 'x', confirm: false })).toBeUndefined();
  expect(echo.approval?.({ text: 'x', confirm: true })).toEqual({ title: 'Echo this text?', message: 'x' });
});

test('arguments out of bounds are refused', () => {
  const echo = createEchoTool();
  expect(badFields(echo, { text: 'x', seconds: 300, confirm: true })).toBeUndefined();
  for (const args of [
    {},
    { text: '' },
    { text: 5 },
    { text: 'x', seconds: 301 },
    { text: 'x', seconds: -1 },
    { text: 'x', confirm: 'yes' },
    [],
  ]) {
    expect(badFields(echo, args)).toBeDefined();
  }
});

test('it has effects, so that it is never run twice or beside others', () => {
  const echo = createEchoTool();
  expect([echo.readOnly, echo.resumable]).toEqual([false, false]);
  expect(echo.description.length).toBeLessThanOrEqual(120);
});

test('its title is one short line', () => {
  const echo = createEchoTool();
  expect(echo.title({ text: 'ahoy\n there' })).toBe('Echo ahoy there');
  expect(echo.title({ text: 'ahoy', seconds: 5 })).toBe('Echo ahoy over 5 s');
  const long = echo.title({ text: `x${'🙂'.repeat(1_000)}` });
  expect(long.length).toBeLessThan(80);
  expect(long.isWellFormed()).toBe(true);
});
