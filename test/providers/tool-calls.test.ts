import { describe, expect, test } from 'vitest';
import { apis } from '../../src/machine/provider-config.js';
import { sse } from '../support/fake-model/voice.js';
import { callsOf, contentFrom, createAsking, textOf } from './asking.js';
import { createStrictModel } from './strict-model.js';

const long = { text: 'quote " backslash \\ newline \n emoji 🙂 '.repeat(50), list: [1, { two: null }], '': 'empty key' };

describe.each(apis)('a call of %s', (api) => {
  test.each([1, 2, 40])('is whole when its arguments come in %i fragments', async (pieces) => {
    await using fake = await createStrictModel();
    fake.script({ steps: [{ text: 'now: ' }, { call: 'echo', args: long, id: 'call_a', pieces }], chunkBytes: 97 });
    const deltas = await createAsking(api, fake.baseUrl(api)).ask();
    expect(callsOf(deltas)).toEqual([{ id: 'call_a', name: 'echo', json: JSON.stringify(long) }]);
    expect(textOf(deltas)).toBe('now: ');
    expect(deltas.at(-1)).toMatchObject({ type: 'end', stopReason: 'tool_use' });
  });

  test.each([true, false])('among several at once stays apart from the others (interleaved: %s)', async (interleaved) => {
    await using fake = await createStrictModel();
    const calls = Array.from({ length: 5 }, (_, n) => ({
      name: `tool_${n}`,
      args: { n, text: 'x'.repeat(n * 7) },
      id: `call_${n}`,
      pieces: n + 1,
    }));
    fake.script([{ calls, interleaved }]);
    const made = callsOf(await createAsking(api, fake.baseUrl(api)).ask());
    expect(made).toEqual(calls.map(({ id, name, args }) => ({ id, name, json: JSON.stringify(args) })));
  });

  test('without arguments has none', async () => {
    await using fake = await createStrictModel();
    fake.script([{ call: 'echo', args: '', id: 'call_a' }]);
    const deltas = await createAsking(api, fake.baseUrl(api)).ask();
    expect(callsOf(deltas).map(({ json }) => json)).toEqual(['']);
    expect(contentFrom(deltas)).toEqual([{ type: 'tool_call', id: 'call_a', name: 'echo', arguments: {} }]);
  });

  test('with arguments that are no JSON is given on as it is', async () => {
    await using fake = await createStrictModel();
    fake.script([{ call: 'echo', args: '{"text": "unfinished' }]);
    expect(callsOf(await createAsking(api, fake.baseUrl(api)).ask()).map(({ json }) => json)).toEqual(['{"text": "unfinished']);
  });
});

describe('a call of openai-responses', () => {
  const event = (type: string, data: object): string => sse({ type, output_index: 0, ...data }, type);
  const item = { id: 'fc_1', type: 'function_call', status: 'in_progress', call_id: 'call_a', name: 'echo', arguments: '' };
  const added = event('response.output_item.added', { item });
  const argued = event('response.function_call_arguments.done', { item_id: 'fc_1', arguments: '{"text":"a"}' });
  const done = event('response.output_item.done', { item: { ...item, status: 'completed', arguments: '{"text":"a"}' } });

  test.each([
    ['when they are done', added + argued + done],
    ['with its item', added + done],
    ['in fragments and then whole', added + event('response.function_call_arguments.delta', { delta: '{"text":"a"}' }) + argued + done],
  ])('has its arguments once when they come %s', async (_, raw) => {
    await using fake = await createStrictModel();
    fake.script([{ text: '' }, { raw }]);
    const deltas = await createAsking('openai-responses', fake.url).ask();
    expect(callsOf(deltas)).toEqual([{ id: 'call_a', name: 'echo', json: '{"text":"a"}' }]);
  });
});

describe('calls of servers that resemble openai-chat', () => {
  interface Fragment {
    index?: number;
    id?: string | null;
    name?: string;
    args?: string;
  }

  async function read(...chunks: Fragment[][]): Promise<unknown[]> {
    await using fake = await createStrictModel();
    const raw = chunks.map((fragments) => {
      const tool_calls = fragments.map(({ index, id, name, args }) => ({
        ...(index === undefined ? {} : { index }),
        ...(id === undefined ? {} : { id }),
        type: 'function',
        function: { ...(name === undefined ? {} : { name }), ...(args === undefined ? {} : { arguments: args }) },
      }));
      return sse({ choices: [{ index: 0, delta: { role: 'assistant', content: null, tool_calls } }] });
    });
    fake.script({ steps: [{ raw: raw.join('') }], stop: 'tool_use' });
    return callsOf(await createAsking('openai-chat', fake.url).ask()).map(({ id, name, json }) => [id, name, json]);
  }

  test('may have no ids', async () => {
    const calls = await read([{ index: 0, name: 'a', args: '{"n":' }], [{ index: 1, name: 'b', args: '{}' }], [{ index: 0, args: '1}' }]);
    expect(calls).toEqual([
      ['', 'a', '{"n":1}'],
      ['', 'b', '{}'],
    ]);
  });

  test('may all have the index 0 and ids of their own', async () => {
    const calls = await read(
      [{ index: 0, id: 'one', name: 'a', args: '' }],
      [{ index: 0, args: '{"n"' }],
      [{ index: 0, args: ':1}' }],
      [{ index: 0, id: 'two', name: 'b', args: '{"n":' }],
      [{ index: 0, args: '2}' }],
    );
    expect(calls).toEqual([
      ['one', 'a', '{"n":1}'],
      ['two', 'b', '{"n":2}'],
    ]);
  });

  test('may come whole, with no index, in one piece or in several', async () => {
    const expected = [
      ['one', 'a', '{"n":1}'],
      ['two', 'a', '{"n":2}'],
    ];
    const one = { id: 'one', name: 'a', args: '{"n":1}' };
    const two = { id: 'two', name: 'a', args: '{"n":2}' };
    expect(await read([one, two])).toEqual(expected);
    expect(await read([one], [two])).toEqual(expected);
  });

  test('may come whole with neither index nor id', async () => {
    const expected = [
      ['', 'a', '{"n":1}'],
      ['', 'a', '{}'],
      ['', 'b', '{"n":2}'],
    ];
    const calls = [
      { name: 'a', args: '{"n":1}' },
      { name: 'a', args: '{}' },
      { name: 'b', args: '{"n":2}' },
    ];
    expect(await read(calls)).toEqual(expected);
    expect(await read(...calls.map((call) => [{ ...call, index: 0 }]))).toEqual(expected);
  });

  test('may repeat their names and ids with every fragment', async () => {
    expect(await read([{ index: 0, id: 'one', name: 'a', args: '{"n"' }], [{ index: 0, id: 'one', name: 'a', args: ':1}' }])).toEqual([
      ['one', 'a', '{"n":1}'],
    ]);
    expect(await read([{ index: 0, name: 'a', args: '{"n"' }], [{ index: 0, name: 'a', args: ':1}' }])).toEqual([['', 'a', '{"n":1}']]);
    expect(await read([{ index: 0, id: 'one', name: 'a', args: '{' }], [{ index: 0, id: '', name: '', args: '}' }])).toEqual([
      ['one', 'a', '{}'],
    ]);
  });

  test('may be named after they have begun', async () => {
    expect(
      await read([{ index: 0, id: 'one' }], [{ index: 0, args: '{"n"' }], [{ index: 0, name: 'a', args: ':1' }], [{ index: 0, args: '}' }]),
    ).toEqual([['one', 'a', '{"n":1}']]);
  });

  test('may end with stop', async () => {
    await using fake = await createStrictModel();
    fake.script({ steps: [{ call: 'echo', id: 'call_a' }], stop: 'stop' });
    expect(contentFrom(await createAsking('openai-chat', fake.url).ask())).toHaveLength(1);
  });
});
