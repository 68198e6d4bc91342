import { expect, test } from 'vitest';
import * as z from 'zod';
import { textOf } from '../../src/protocol/content.js';
import type { ModelRequest } from '../../src/providers/port.js';
import { toolText, type Tool } from '../../src/tools/port.js';
import { createTestEngine } from '../support/engine.js';
import { zodParameters } from '../../src/tools/zod-parameters.js';

/** A tool with a very long answer. */
const lecture = {
  name: 'lecture',
  description: 'lecture',
  parameters: zodParameters(z.object({})),
  readOnly: true,
  resumable: false,
  title: () => 'lecture',
  run: () => Promise.resolve(toolText(`first ${'x'.repeat(60_000)} last`)),
} satisfies Tool;

function results({ messages }: ModelRequest): string[] {
  return messages.filter(({ role }) => role === 'tool_result').map(({ content }) => textOf(content));
}

test('results that do not fit the window are cut before they are told, and kept whole in the history', async () => {
  await using berth = createTestEngine({ tools: [lecture] });
  berth.model.known = { contextWindow: 16_384, maxOutput: null, price: null };
  const session = berth.session();
  berth.prompt(session);
  (await berth.model.next()).call('lecture').call('lecture').end('tool_use');
  const { request, say } = await berth.model.next();
  expect(
    results(request).map((text) => text.length < 33_000 && /^first x+\n\[\d+ characters were left out here:[^]*x last$/.test(text)),
  ).toEqual([true, true]);
  expect(results(request).join('').length / 4).toBeLessThan(16_384 * 0.8);
  say('done').end();
  await berth.idle(session);
  expect(berth.history(session).filter((line) => line.startsWith('tool_result: first') && line.length > 60_000)).toHaveLength(2);
});

test('results that were too much all the same are cut once more', async () => {
  await using berth = createTestEngine({ tools: [lecture] });
  const session = berth.session();
  berth.prompt(session);
  (await berth.model.next()).call('lecture').end('tool_use');
  const first = await berth.model.next();
  expect(results(first.request)[0]).toHaveLength(60_011);
  first.failWith({ message: 'too long', overflow: true });
  for (;;) {
    const again = await berth.model.next();
    if (results(again.request).length === 0) again.say('a summary').end();
    else if (results(again.request)[0]!.length > 40_000) again.failWith({ message: 'too long', overflow: true });
    else {
      again.say('done').end();
      break;
    }
  }
  await berth.idle(session);
  expect(berth.store.load(session)?.lastRun?.outcome).toBe('completed');
});

test.each([
  ['in the middle of a tool call', true],
  ['before it had any text', false],
])('an answer that was cut %s fails the run, and says why', async (where, calls) => {
  await using berth = createTestEngine({ tools: [lecture] });
  const session = berth.session();
  berth.prompt(session);
  const asked = await berth.model.next();
  (calls ? asked.call('lecture', '{"half":') : asked.begin()).end('length');
  await berth.idle(session);
  expect(berth.store.load(session)?.lastRun).toMatchObject({
    outcome: 'failed',
    error: { message: expect.stringContaining(`truncated ${where}`) },
  });
  berth.prompt(session);
  (await berth.model.next()).say('well').end();
  await berth.idle(session);
  expect(berth.store.load(session)?.lastRun?.outcome).toBe('completed');
});

test('what is left of the window is estimated where nobody counts', async () => {
  await using berth = createTestEngine();
  berth.model.known = { contextWindow: 10_000, maxOutput: null, price: null };
  const session = berth.session();
  berth.prompt(session, 'x'.repeat(20_000));
  (await berth.model.next()).say('well').end();
  await berth.idle(session);
  const left = berth.store.load(session)?.contextLeftPercent;
  expect(left).toBeGreaterThan(30);
  expect(left).toBeLessThan(55);
});
