import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toModelMessages } from '../../src/engine/run/history.js';
import { toolCallsOf } from '../../src/protocol/content.js';
import type { ContentBlock } from '../../src/protocol/messages.js';
import type { ThinkingLevel } from '../../src/providers/port.js';
import { apis, type Api } from '../../src/machine/provider-config.js';
import type { HistoryEntry } from '../../src/store/rows/history-rows.js';
import type { Step } from '../support/fake-model/reply.js';
import type { FakeModel } from '../support/fake-model/server.js';
import { sized } from '../support/fault-sizes.js';
import { contentFrom, createAsking, textOf, thinkers } from './asking.js';
import { answers, entry, returns, says } from './histories.js';
import { createStrictModel } from './strict-model.js';

const runs = sized({ short: 40, long: 100, full: 2_000 });

function firstCall(content: ContentBlock[]): string {
  return toolCallsOf(content)[0]?.id ?? '';
}

/** A history in which everything happens that can, each answer of it from this API. */
async function liveThrough(api: Api, fake: FakeModel): Promise<HistoryEntry[]> {
  const model = thinkers[api];
  const { ask } = createAsking(api, fake.baseUrl(api));
  const history: HistoryEntry[] = [says('hello')];
  async function hear(...steps: Step[]): Promise<ContentBlock[]> {
    fake.script(steps);
    const content = contentFrom(await ask({ thinking: 'high', messages: toModelMessages(history) }));
    history.push(answers(model, content));
    return content;
  }

  const both = await hear(
    { thinking: 'hm', pieces: 2 },
    { redacted: `opaque of ${api}` },
    { text: 'Look:' },
    { calls: [{ name: 'echo' }, { name: 'clock' }] },
  );
  // The second call was never run.
  history.push(returns(firstCall(both), [{ type: 'text', text: 'fine' }]));
  await hear({ thinking: 'then' }, { text: 'I stop' }, { cut: true });
  await hear({ thinking: 'a thought that led to nothing' });
  await hear({ redacted: `alone of ${api}` });
  history.push(says(' \n'));
  const failing = await hear({ text: '\n\n' }, { thinking: 'again' }, { call: 'echo', args: { text: '🙂' } });
  history.push(returns(firstCall(failing), [], true), says('steered'), says('twice'));
  await hear({ thinking: 'cut', pieces: 1 }, { cut: true });
  await hear({ text: 'half a sen' }, { cut: true });
  await hear({ thinking: 'last' }, { call: 'echo' });
  return history;
}

describe.each(apis)('a history that was lived through with %s', (from) => {
  test.each(apis)('is accepted by %s, whole and however it is cut', async (to) => {
    await using fake = await createStrictModel();
    const history = await liveThrough(from, fake);
    const { ask } = createAsking(to, fake.baseUrl(to));
    for (let count = 1; count <= history.length; count++) {
      const messages = toModelMessages(history.slice(0, count));
      for (const thinking of ['off', 'high'] as const) {
        expect(textOf(await ask({ thinking, messages }))).toBe('ok');
        expect(textOf(await ask({ thinking, messages, tools: [] }))).toBe('ok');
      }
    }
    const summed = [
      entry('compaction', [{ type: 'text', text: 'It was so.' }]),
      ...history.slice(3).map((kept) => ({ ...kept, isBeforeSummary: true })),
    ];
    expect(textOf(await ask({ thinking: 'high', messages: toModelMessages([...summed, says('and now?')]) }))).toBe('ok');
    expect(fake.refusals).toEqual([]);
  });
});

test('a conversation may go from one API to the next and back, with every answer', async () => {
  await using fake = await createStrictModel();
  const history: HistoryEntry[] = [says('hello')];
  for (let round = 0; round < 9; round++) {
    const api = apis[round % apis.length]!;
    fake.script([{ thinking: `thought ${round}` }, { text: `said ${round}` }, { call: 'echo', args: { round } }]);
    const deltas = await createAsking(api, fake.baseUrl(api)).ask({ thinking: 'medium', messages: toModelMessages(history) });
    expect(deltas.at(-1)).toMatchObject({ type: 'end', stopReason: 'tool_use' });
    const content = contentFrom(deltas);
    history.push(answers(thinkers[api], content), returns(firstCall(content), [{ type: 'text', text: `result ${round}` }]));
  }
  expect(fake.refusals).toEqual([]);
  const { body } = fake.asked.at(-3)!;
  // Each model is given what it thought itself, and what the others said.
  expect(JSON.stringify(body)).toContain('thought 3');
  expect(JSON.stringify(body)).not.toContain('thought 4');
  expect(JSON.stringify(body)).toContain('said 4');
});

describe('any history at all', () => {
  const text = fc.oneof(
    fc.constantFrom('', ' ', '\n\n', 'words', '\ud83d', '\udc00x', '🙂', '\\ud800', '\u0000', '"'),
    fc.string({ unit: 'binary', maxLength: 30 }),
    fc.array(fc.integer({ min: 0xd700, max: 0xe000 }), { maxLength: 4 }).map((units) => String.fromCharCode(...units)),
  );
  const id = fc.oneof(
    fc.constantFrom('', 'call_0', 'call_1', 'call_b1', 'call_b2', '"', 'a\nb', 'x'.repeat(40), 'x'.repeat(41), 'y'.repeat(200), 'é'),
    fc.string({ maxLength: 8 }),
  );
  const name = fc.oneof(fc.constantFrom('echo', '', 'a.b', 'x'.repeat(200), '__proto__', 'naïve'), fc.string({ maxLength: 8 }));
  const image = fc.record({
    type: fc.constant('image' as const),
    data: fc.oneof(
      fc.constant(''),
      fc.uint8Array({ minLength: 1, maxLength: 9 }).map((bytes) => Buffer.from(bytes).toString('base64')),
    ),
    mime_type: fc.constantFrom('image/png', 'image/JPEG', 'image/jpg', 'image/tiff', 'text/plain', ''),
  });
  const plain = fc.record({ type: fc.constant('text' as const), text });
  const words = fc.array(fc.oneof({ weight: 3, arbitrary: plain }, image), { maxLength: 3 });
  const thought = fc.oneof(
    fc.constant('real' as const),
    fc.record(
      {
        type: fc.constant('thinking' as const),
        thinking: text,
        thinking_signature: fc.oneof(fc.constantFrom(null, '', 'sig', 'prefix:sig', '{"type":"x"}'), text),
        redacted: fc.boolean(),
      },
      { requiredKeys: ['type', 'thinking'] },
    ),
  );
  const call = fc.record({
    type: fc.constant('tool_call' as const),
    id,
    name,
    arguments: fc.dictionary(text, fc.oneof(fc.jsonValue({ maxDepth: 2 }), text), { maxKeys: 3 }),
  });
  const answer = fc.record({
    role: fc.constant('assistant' as const),
    own: fc.boolean(),
    content: fc.array(
      fc.oneof(
        thought,
        call,
        plain,
        plain.map((block) => ({ ...block, phase: 'commentary' })),
      ),
      { maxLength: 5 },
    ),
    /** Which of its calls have results, and in which order they came. */
    results: fc.array(fc.record({ at: fc.nat(4), content: words, is_error: fc.boolean() }), { maxLength: 5 }),
  });
  const turn = fc.oneof(
    answer,
    fc.record({ role: fc.constant('user' as const), content: words }),
    fc.record({ role: fc.constant('compaction' as const), content: fc.array(plain, { minLength: 1, maxLength: 1 }) }),
    fc.record({ role: fc.constant('stray' as const), id, content: words }),
  );
  const turns = fc.array(turn, { maxLength: 12 });
  type Turn = typeof turn extends fc.Arbitrary<infer T> ? T : never;

  /** Calls have ids of their own within a message: the engine sees to that. */
  function withUniqueIds(content: ContentBlock[]): ContentBlock[] {
    const ids = new Set<string>();
    return content.filter((block) => block.type !== 'tool_call' || (!ids.has(block.id) && ids.add(block.id)));
  }

  function toHistory(all: Turn[], model: string, real: ContentBlock[]): HistoryEntry[] {
    const left = [...real];
    return all.flatMap((one): HistoryEntry[] => {
      if (one.role === 'stray') return [returns(one.id, one.content)];
      if (one.role !== 'assistant') return [entry(one.role, one.content)];
      const content = withUniqueIds(one.content.flatMap((block): ContentBlock[] => (block === 'real' ? left.splice(0, 1) : [block])));
      const calls = toolCallsOf(content);
      const results = one.results.flatMap(({ at, content: said, is_error }) => (calls[at] ? [returns(calls[at].id, said, is_error)] : []));
      // Real thoughts are only ever found in what their own model said.
      return [answers(one.own || one.content.includes('real') ? model : 'y/other', content), ...results];
    });
  }

  const asked: [Api, string][] = [...apis.map((api): [Api, string] => [api, thinkers[api]]), ['anthropic', 'x/claude-opus-4-5']];

  test.each(asked)('is never refused by %s as %s', async (api, model) => {
    await using fake = await createStrictModel();
    const { ask } = createAsking(api, fake.baseUrl(api));
    const real: ContentBlock[] = [];
    for (let n = 0; n < 20; n++) {
      fake.script([n % 3 === 0 ? { redacted: `opaque ${n}` } : { thinking: `thought ${n}` }, { text: 'so' }]);
      real.push(...contentFrom(await ask({ model, thinking: 'high' })).filter(({ type }) => type === 'thinking'));
    }
    const level = fc.constantFrom<ThinkingLevel>('off', 'high');
    await fc.assert(
      fc.asyncProperty(turns, words, turns, level, fc.boolean(), async (before, first, after, thinking, withTools) => {
        const history = toHistory([...before, { role: 'user', content: first }, ...after], model, real);
        const deltas = await ask({ model, thinking, messages: toModelMessages(history), ...(withTools ? {} : { tools: [] }) });
        expect(fake.refusals).toEqual([]);
        expect(deltas.at(-1)).toMatchObject({ type: 'end' });
      }),
      { numRuns: runs },
    );
    expect(fake.asked).toHaveLength(runs + 20);
  });
});
