import { describe, expect, test } from 'vitest';
import type { ContentBlock } from '../../src/protocol/messages.js';
import { apis } from '../../src/machine/provider-config.js';
import type { Step } from '../support/fake-model/reply.js';
import type { FakeModel } from '../support/fake-model/server.js';
import type { Json } from '../support/fake-model/shape.js';
import { sse } from '../support/fake-model/voice.js';
import { assistant, called, contentFrom, createAsking, result, textOf, thinkers, thinkingOf, user, type Asking } from './asking.js';
import { createStrictModel } from './strict-model.js';

/** What the next request says of an answer that was given. */
async function givenBack(
  fake: FakeModel,
  { ask }: Asking,
  model: string,
  steps: Step[],
  thinking: 'off' | 'high' = 'high',
): Promise<Json[]> {
  fake.script(steps);
  const content = contentFrom(await ask({ model, thinking }));
  const results = content.flatMap((block) => (block.type === 'tool_call' ? [result(block.id, 'fine')] : []));
  await ask({ model, thinking, messages: [user('hello'), assistant(model, ...content), ...results, user('go on')] });
  const { body } = fake.asked.at(-1)!;
  return (body.messages ?? body.input) as Json[];
}

describe('thoughts of anthropic', () => {
  const model = thinkers.anthropic;

  test('go back to the letter, in their places, with their signatures', async () => {
    await using fake = await createStrictModel();
    const [, said] = await givenBack(fake, createAsking('anthropic', fake.url), model, [
      { thinking: ' first 🙂\nthought ', pieces: 5, signature: 'sig/one+==' },
      { redacted: 'opaque=' },
      { text: 'Look:' },
      { thinking: 'second', signature: 'sig-two' },
      { call: 'echo', args: { text: 'a' }, id: 'toolu_1' },
      { call: 'echo', args: {}, id: 'toolu_2' },
    ]);
    expect(said).toEqual({
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: ' first 🙂\nthought ', signature: 'sig/one+==' },
        { type: 'redacted_thinking', data: 'opaque=' },
        { type: 'text', text: 'Look:' },
        { type: 'thinking', thinking: 'second', signature: 'sig-two' },
        { type: 'tool_use', id: 'toolu_1', name: 'echo', input: { text: 'a' } },
        { type: 'tool_use', id: 'toolu_2', name: 'echo', input: {} },
      ],
    });
  });

  test('go back also when their words are not shown', async () => {
    await using fake = await createStrictModel();
    const [, said] = await givenBack(fake, createAsking('anthropic', fake.url), model, [
      { thinking: '', signature: 'sig' },
      { text: 'so' },
    ]);
    expect(said.content[0]).toEqual({ type: 'thinking', thinking: '', signature: 'sig' });
  });

  test('that led to nothing are not sent', async () => {
    await using fake = await createStrictModel();
    const messages = await givenBack(fake, createAsking('anthropic', fake.url), model, [{ thinking: 'hm', signature: 'sig' }]);
    expect(messages.map(({ role }) => role)).toEqual(['user']);
    const [, said] = await givenBack(fake, createAsking('anthropic', fake.url), model, [{ text: 'well' }, { thinking: 'hm' }]);
    expect(said.content).toEqual([{ type: 'text', text: 'well' }]);
  });

  test('that were cut before they were signed are not sent', async () => {
    await using fake = await createStrictModel();
    fake.script([{ thinking: 'half a tho' }, { cut: true }]);
    const asking = createAsking('anthropic', fake.url);
    const content = contentFrom(await asking.ask({ thinking: 'high' }));
    expect(content).toEqual([{ type: 'thinking', thinking: 'half a tho' }]);
    await asking.ask({ messages: [user('hello'), assistant(model, ...content, { type: 'text', text: 'x' }), user('go on')] });
    expect(fake.asked.at(-1)?.body.messages[1].content).toEqual([{ type: 'text', text: 'x' }]);
  });

  test('are left out, and not asked for, where a model with a budget has to go on without having thought', async () => {
    await using fake = await createStrictModel();
    const { ask } = createAsking('anthropic', fake.url);
    const foreign: ContentBlock = { type: 'thinking', thinking: 'hm', thinking_signature: 'of another' };
    const messages = [user('hello'), assistant('y/other', foreign, called('toolu_1')), result('toolu_1', 'fine')];
    expect(textOf(await ask({ model: 'x/claude-opus-4-5', thinking: 'high', messages }))).toBe('ok');
    expect(fake.asked[0]?.body.thinking).toBeUndefined();
    expect(textOf(await ask({ model: 'x/claude-opus-4-5', thinking: 'high', messages: [...messages, user('and now?')] }))).toBe('ok');
  });

  test('with a budget go back where it goes on with its tools', async () => {
    await using fake = await createStrictModel();
    const model = 'x/claude-opus-4-5';
    fake.script([
      { thinking: 'hm', signature: 'sig' },
      { call: 'echo', id: 'toolu_1' },
    ]);
    const { ask } = createAsking('anthropic', fake.url);
    const content = contentFrom(await ask({ model, thinking: 'low' }));
    await ask({ model, thinking: 'low', messages: [user('hello'), assistant(model, ...content), result('toolu_1', 'fine')] });
    expect(fake.asked[1]?.body.thinking).toMatchObject({ type: 'enabled' });
  });
});

describe('reasoning of openai-responses', () => {
  const model = thinkers['openai-responses'];

  test('goes back encrypted, before what it led to', async () => {
    await using fake = await createStrictModel();
    const items = await givenBack(fake, createAsking('openai-responses', fake.url), model, [
      { thinking: 'a summary', signature: 'gAAA-one' },
      { text: 'Look:' },
      { redacted: 'gAAA-two' },
      { call: 'echo', args: { text: 'a' }, id: 'call_1' },
      { thinking: 'more' },
      { call: 'echo', id: 'call_2' },
    ]);
    expect(items.map(({ type }) => type)).toEqual([
      'message',
      'reasoning',
      'message',
      'reasoning',
      'function_call',
      'reasoning',
      'function_call',
      'function_call_output',
      'function_call_output',
      'message',
    ]);
    expect(items[1]).toEqual({
      type: 'reasoning',
      id: expect.stringMatching(/^rs_/),
      summary: [{ type: 'summary_text', text: 'a summary' }],
      encrypted_content: 'gAAA-one',
    });
    expect(items[3]).toMatchObject({ summary: [], encrypted_content: 'gAAA-two' });
    expect(items[4]).toEqual({ type: 'function_call', call_id: 'call_1', name: 'echo', arguments: '{"text":"a"}' });
    expect(fake.asked.at(-1)?.body).toMatchObject({ store: false, include: ['reasoning.encrypted_content'] });
  });

  test('that led to nothing is not sent', async () => {
    await using fake = await createStrictModel();
    const asking = createAsking('openai-responses', fake.url);
    for (const steps of [[{ thinking: 'hm' }], [{ text: 'well' }, { redacted: 'gAAA-lost' }]]) {
      const items = await givenBack(fake, asking, model, steps);
      expect(items.filter(({ type }) => type === 'reasoning')).toEqual([]);
    }
  });

  test('that came without its encrypted content is shown and not sent', async () => {
    await using fake = await createStrictModel();
    const asking = createAsking('openai-responses', fake.url);
    const items = await givenBack(fake, asking, 'x/some-model', [{ thinking: 'hm' }, { text: 'so' }], 'off');
    expect(items.map(({ type }) => type)).toEqual(['message', 'message', 'message']);
  });

  test('in several summaries is set apart by empty lines', async () => {
    await using fake = await createStrictModel();
    const event = (type: string, data: object): string => sse({ type, item_id: 'rs_1', output_index: 0, ...data }, type);
    const part = (summary_index: number, delta: string): string =>
      event('response.reasoning_summary_part.added', { summary_index, part: { type: 'summary_text', text: '' } }) +
      event('response.reasoning_summary_text.delta', { summary_index, delta });
    fake.script([{ text: '' }, { raw: part(0, 'one') + part(1, 'two') }]);
    expect(thinkingOf(await createAsking('openai-responses', fake.url).ask())).toBe('one\n\ntwo');
  });
});

test('what a text is in its answer goes back to openai-responses', async () => {
  await using fake = await createStrictModel();
  const message = (output_index: number, phase: string, text: string): string => {
    const item = { id: `msg_${output_index}`, type: 'message', role: 'assistant', status: 'in_progress', content: [], phase };
    const at = { item_id: item.id, output_index, content_index: 0 };
    const done = { ...item, status: 'completed', content: [{ type: 'output_text', text, annotations: [] }] };
    return [
      { type: 'response.output_item.added', output_index, item },
      { type: 'response.output_text.delta', ...at, delta: text },
      { type: 'response.output_item.done', output_index, item: done },
    ]
      .map((event) => sse(event, event.type))
      .join('');
  };
  const items = await givenBack(fake, createAsking('openai-responses', fake.url), thinkers['openai-responses'], [
    { text: '' },
    { raw: message(0, 'commentary', 'I look first.') + message(1, 'final_answer', 'It is so.') },
  ]);
  expect(items.slice(1, -1)).toEqual([
    { type: 'message', role: 'assistant', content: 'I look first.', phase: 'commentary' },
    { type: 'message', role: 'assistant', content: 'It is so.', phase: 'final_answer' },
  ]);
});

describe('thoughts of openai-chat', () => {
  test('are shown and not sent', async () => {
    await using fake = await createStrictModel();
    const asking = createAsking('openai-chat', fake.url);
    const messages = await givenBack(fake, asking, thinkers['openai-chat'], [{ thinking: 'hm' }, { text: 'so' }]);
    expect(messages.slice(1)).toEqual([
      { role: 'user', content: 'hello' },
      { role: 'assistant', content: 'so' },
      { role: 'user', content: 'go on' },
    ]);
  });

  test.each([
    { reasoning_content: 'hm' },
    { reasoning: 'hm' },
    { reasoning_text: 'hm' },
    { reasoning_content: '', reasoning: 'hm' },
    { reasoning_content: null, reasoning: 'hm', content: '' },
    { reasoning: 'hm', reasoning_content: 'hm', reasoning_details: [{ type: 'reasoning.text', text: 'hm' }] },
  ])('are found once under %o', async (delta) => {
    await using fake = await createStrictModel();
    fake.script([{ text: '' }, { raw: sse({ choices: [{ index: 0, delta }] }) }, { text: 'so' }]);
    const deltas = await createAsking('openai-chat', fake.url).ask();
    expect(thinkingOf(deltas)).toBe('hm');
    expect(textOf(deltas)).toBe('so');
  });
});

describe.each(apis)('%s', (api) => {
  test('is not given what another model thought, nor another provider of the same model', async () => {
    await using fake = await createStrictModel();
    const { ask } = createAsking(api, fake.baseUrl(api));
    fake.script([{ thinking: 'secret', signature: 'sig' }, { text: 'so' }]);
    const [thought] = contentFrom(await ask({ thinking: 'high' }));
    for (const model of ['x/other', thinkers[api].replace('x/', 'y/')]) {
      await ask({ thinking: 'high', messages: [user('hello'), assistant(model, thought!, { type: 'text', text: 'so' }), user('and?')] });
      expect(JSON.stringify(fake.asked.at(-1)?.body)).not.toMatch(/secret|sig/);
    }
  });

  test('is not given what was signed for another API under the same name', async () => {
    await using fake = await createStrictModel();
    const signatures = ['prefix:sig', '{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAA"}', '{', 'null', ' '];
    const { ask } = createAsking(api, fake.baseUrl(api));
    for (const thinking_signature of signatures.filter((text) => api !== 'openai-responses' || !text.includes('gAAA'))) {
      const thought: ContentBlock = { type: 'thinking', thinking: 'secret', thinking_signature };
      const messages = [user('hello'), assistant(thinkers[api], thought, { type: 'text', text: 'so' }), user('and?')];
      expect(textOf(await ask({ messages }))).toBe('ok');
    }
    expect(JSON.stringify(fake.asked.map(({ body }) => body))).not.toContain('secret');
  });
});
