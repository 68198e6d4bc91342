import { describe, expect, test } from 'vitest';
import type { ContentBlock } from '../../src/protocol/messages.js';
import type { ModelMessage } from '../../src/providers/port.js';
import { apis, type Api, type ModelEntry } from '../../src/machine/provider-config.js';
import type { Json } from '../support/fake-model/shape.js';
import { assistant, called, createAsking, result, textOf, thinkers, user } from './asking.js';
import { createStrictModel } from './strict-model.js';

const png: ContentBlock = { type: 'image', data: 'iVBORw0KGgo=', mime_type: 'image/png' };

/** The body in which a strict server was told a history. */
async function tell(api: Api, messages: ModelMessage[], entry: Partial<ModelEntry> = {}): Promise<Json> {
  await using fake = await createStrictModel();
  const models = [{ id: thinkers[api].slice(2), ...entry }];
  expect(textOf(await createAsking(api, fake.baseUrl(api), { config: { models } }).ask({ messages }))).toBe('ok');
  expect(fake.notes).toEqual([]);
  return fake.asked[0]?.body;
}

/** Calls and the ids that answer them, in any of the forms. */
function pairsIn({ messages, input }: Json): { calls: { id: string; name: string }[]; answers: string[] } {
  const items: Json[] = (messages ?? input).flatMap((message: Json) => [
    message,
    ...(Array.isArray(message.content) ? message.content : []),
    ...(message.tool_calls ?? []),
  ]);
  return {
    calls: items.flatMap(({ type, id, call_id, name, function: named }) =>
      ['tool_use', 'function_call', 'function'].includes(type) ? [{ id: call_id ?? id, name: name ?? named.name }] : [],
    ),
    answers: items.flatMap(({ tool_use_id, tool_call_id, type, call_id }) =>
      type === 'function_call_output' ? [call_id] : [tool_use_id ?? tool_call_id].filter((id) => id !== undefined),
    ),
  };
}

describe.each(apis)('a history for %s', (api) => {
  test.each(['with "quotes"', 'two\nlines', 'x'.repeat(41), 'x'.repeat(450), 'fc_1|call:2', 'é', '', ' ', 'call_b1'])(
    'may have calls with the id %j',
    async (id) => {
      const body = await tell(api, [
        user('hello'),
        assistant('y/other', called(id), called('toolu_plain')),
        result(id, 'a'),
        result('toolu_plain', 'b'),
      ]);
      const { calls, answers } = pairsIn(body);
      expect(calls).toHaveLength(2);
      expect(answers).toEqual(calls.map((call) => call.id));
      expect(calls[1]?.id).toBe('toolu_plain');
    },
  );

  test('may use the same ids again and again', async () => {
    const round = [assistant('y/other', called('call_0'), called('call_1')), result('call_0', 'a'), result('call_1', 'b')];
    const { calls, answers } = pairsIn(await tell(api, [user('hello'), ...round, ...round, ...round]));
    expect(new Set(calls.map(({ id }) => id)).size).toBe(6);
    expect(answers).toEqual(calls.map(({ id }) => id));
  });

  test('keeps the ids that it was given where they are good', async () => {
    const { calls } = pairsIn(await tell(api, [user('hello'), assistant('y/other', called('toolu_01-A_b')), result('toolu_01-A_b', 'a')]));
    expect(calls).toEqual([{ id: 'toolu_01-A_b', name: 'echo' }]);
  });

  test.each([
    ['files.read', 'files_read'],
    ['two words', 'two_words'],
    ['naïve', 'na_ve'],
    ['', 'unnamed'],
    ['x'.repeat(200), 'x'.repeat(64)],
    ['__proto__', '__proto__'],
  ])('may have called a tool %j', async (name, sent) => {
    const { calls } = pairsIn(await tell(api, [user('hello'), assistant('y/other', called('call_1', name)), result('call_1', 'a')]));
    expect(calls).toEqual([{ id: 'call_1', name: sent }]);
  });

  test('may have results with errors, with nothing, and with blanks', async () => {
    const messages = [
      user('hello'),
      assistant('y/other', called('a'), called('b'), called('c'), called('d')),
      { ...result('a', 'it broke'), isError: true },
      { ...result('b'), isError: true },
      result('c', ' \n'),
      result('d', '', 'x', '  '),
    ];
    const text = JSON.stringify(await tell(api, messages));
    expect(text).toContain('it broke');
    expect(text.match(/\(no output\)/g)).toHaveLength(2);
    if (api === 'anthropic') expect(text.match(/"is_error":true/g)).toHaveLength(2);
  });

  test('shows images of the person and of tools, also of one that failed', async () => {
    const messages = [
      user('look', png, 'and', { ...png, mime_type: 'IMAGE/JPG' }),
      assistant('y/other', called('a'), called('b')),
      result('a', png),
      { ...result('b', 'broke', png), isError: true },
      user(png),
    ];
    const text = JSON.stringify(await tell(api, messages));
    expect(text.match(/iVBORw0KGgo=/g)).toHaveLength(5);
    expect(text).toContain('image/jpeg');
    expect(text).not.toContain('IMAGE');
  });

  test.each(['image/tiff', 'image/svg+xml', 'application/pdf', ''])('tells of an image of the type %j in words', async (mime_type) => {
    const image: ContentBlock = { ...png, mime_type };
    const text = JSON.stringify(await tell(api, [user(image), assistant('y/other', called('a')), result('a', image)]));
    expect(text.match(/an image of type .{0,20} was here/g)).toHaveLength(2);
    expect(text).not.toContain('iVBOR');
  });

  test('tells a model that sees nothing of images in words', async () => {
    const messages = [user('look', png), assistant('y/other', called('a')), result('a', png)];
    const text = JSON.stringify(await tell(api, messages, { images: false }));
    expect(text.match(/an image of type image\/png was here/g)).toHaveLength(2);
    expect(text).not.toContain('iVBOR');
  });

  test('may have messages with nothing in them, first, in the middle and last', async () => {
    const said: ContentBlock = { type: 'text', text: 'so' };
    await tell(api, [user('')]);
    await tell(api, [user(), assistant('y/other', said), user(' \n'), assistant('y/other', said), user('\t')]);
    await tell(api, [user('hello'), assistant('y/other', { type: 'text', text: ' ' }), user('and?')]);
  });

  test('has the texts of a message as one text', async () => {
    const text = JSON.stringify(await tell(api, [user('say', ' ', 'hello'), user('there')]));
    expect(text).toContain('say hello');
    expect(text).toContain('there');
  });

  test('may hold halves of characters, in words, arguments and instructions', async () => {
    await using fake = await createStrictModel();
    const half = '\ud83d';
    const said = assistant(
      'y/other',
      { type: 'text', text: `a${half}` },
      called('c', 'echo', { [`k${half}`]: ['\\ud800', `x${half}`, '\\\\', '🙂'] }),
    );
    const messages = [user(`${half}b`, '\udc00'), said, result('c', `r${half}`)];
    expect(textOf(await createAsking(api, fake.baseUrl(api)).ask({ messages, system: `be ${half}` }))).toBe('ok');
    const text = JSON.stringify(fake.asked[0]?.body);
    expect(text).toContain('be �');
    expect(text).toContain('🙂');
    expect(text).toContain(String.raw`\\ud800`);
  });

  test('may hold calls although no tools are to be used any more', async () => {
    await using fake = await createStrictModel();
    const messages = [
      user('hello'),
      assistant('y/other', called('a', 'files.read'), called('b', 'echo')),
      result('a', '1'),
      result('b', '2'),
    ];
    expect(textOf(await createAsking(api, fake.baseUrl(api)).ask({ messages, tools: [] }))).toBe('ok');
  });
});

test('words go to openai-chat as plain strings, as not every server takes parts', async () => {
  const body = await tell('openai-chat', [user('one', ' two'), user('three'), assistant('y/other', called('a')), result('a', 'x', 'y')]);
  expect(body.messages.slice(1)).toEqual([
    { role: 'user', content: 'one two\n\nthree' },
    { role: 'assistant', tool_calls: [{ type: 'function', id: 'a', function: { name: 'echo', arguments: '{}' } }] },
    { role: 'tool', tool_call_id: 'a', content: 'xy' },
  ]);
});
