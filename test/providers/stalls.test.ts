import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { apis } from '../../src/machine/provider-config.js';
import { createIdleTimeout } from '../../src/providers/http/idle-timeout.js';
import type { Step } from '../support/fake-model/reply.js';
import { createAsking, failureOf, key, textOf } from './asking.js';
import { createRawServer } from './raw-server.js';
import { createStrictModel } from './strict-model.js';

const idleMs = 160;
const silent = { message: 'x has sent nothing for 0.2 s', retry: {} };

/** Waits only when it is its turn. */
function pause(ms: number): Step {
  return {
    get gate() {
      return delay(ms);
    },
  };
}

/** Longer than anybody would be waited for. */
function untilTooLate(): Promise<void> {
  return new Promise((resolve) => createIdleTimeout(2 * idleMs, resolve).listen(true));
}

describe.each(apis)('%s', (api) => {
  test.each<[string, Step[], string]>([
    ['before its headers', [{ stall: true }], ''],
    ['after its headers', [{ raw: '' }, { stall: true }], ''],
    ['before its first word', [{ text: '' }, { stall: true }], ''],
    ['in the middle of its words', [{ text: 'half an ans' }, { stall: true }], 'half an ans'],
    ['in the middle of an event', [{ text: 'half' }, { raw: 'data: {"unfini' }, { stall: true }], 'half'],
  ])('that goes silent %s is not waited for, and may answer the next time', async (_, steps, said) => {
    await using fake = await createStrictModel();
    fake.script(steps);
    const deltas = await createAsking(api, fake.baseUrl(api), { idleMs }).ask();
    expect(textOf(deltas)).toBe(said);
    expect(failureOf(deltas)).toEqual(silent);
    expect(await (await fake.next()).closed).toBe('left');
  });

  test('that goes silent in the middle of an error is not waited for', async () => {
    let left: Promise<unknown> | undefined;
    await using server = await createRawServer((response) => {
      left = new Promise((resolve) => response.once('close', resolve));
      response.writeHead(500, { 'content-type': 'application/json' });
      response.write('{"error":');
    });
    expect(failureOf(await createAsking(api, server.url, { idleMs }).ask())).toEqual(silent);
    await left;
  });

  test('that says that it is still there is waited for', async () => {
    await using fake = await createStrictModel();
    const alive = Array.from({ length: 16 }, (): Step[] => [{ ping: true }, pause(idleMs / 8)]).flat();
    fake.script([...alive, { text: 'at last' }, ...alive, { text: ', an answer' }]);
    const deltas = await createAsking(api, fake.baseUrl(api), { idleMs }).ask();
    expect(textOf(deltas)).toBe('at last, an answer');
    expect(deltas.at(-1)).toMatchObject({ type: 'end' });
  });

  test('is not silent while nobody listens', async () => {
    await using fake = await createStrictModel();
    fake.script([{ text: 'one two three' }]);
    let text = '';
    for await (const delta of createAsking(api, fake.baseUrl(api), { idleMs }).stream()) {
      if (delta.type === 'begin') await untilTooLate();
      if (delta.type === 'text') text += delta.text;
      if (delta.type === 'failure') throw new Error(delta.message);
    }
    expect(text).toBe('one two three');
  });

  test('is not silent while a command still prints the key', async () => {
    await using fake = await createStrictModel();
    const runCommand = (): Promise<string> => untilTooLate().then(() => key);
    const config = { apiKeyCommand: ['print-key'] };
    expect(textOf(await createAsking(api, fake.baseUrl(api), { idleMs, runCommand, config, apiKey: null }).ask())).toBe('ok');
  });
});
