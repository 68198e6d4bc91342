import { describe, expect, test } from 'vitest';
import type { ContentBlock } from '../../src/protocol/messages.js';
import type { ModelMessage } from '../../src/providers/port.js';
import { apis, type Api } from '../../src/machine/provider-config.js';
import type { Json } from '../support/fake-model/shape.js';
import { assistant, called, contentFrom, createAsking, echo, result, textOf, thinkers, user } from './asking.js';
import { createStrictModel } from './strict-model.js';

const png: ContentBlock = { type: 'image', data: 'iVBORw0KGgo=', mime_type: 'image/png' };

/** The bodies of a conversation in which each request has all that went before. */
async function converse(api: Api): Promise<Json[]> {
  await using fake = await createStrictModel();
  const model = thinkers[api];
  const { ask } = createAsking(api, fake.baseUrl(api));
  const messages: ModelMessage[] = [];
  for (let round = 0; round < 6; round++) {
    messages.push(user(`question ${round}`, ...(round === 2 ? [png] : [])));
    fake.script(
      [
        { thinking: `hm ${round}` },
        {
          calls: [
            { name: 'echo', id: 'call_0' },
            { name: 'a.b', id: 'odd "id"' },
          ],
        },
      ],
      [{ text: `answer ${round}` }],
    );
    const content = contentFrom(await ask({ thinking: 'high', messages }));
    messages.push(assistant(model, ...content), result('call_0', 'one'), {
      ...result('odd "id"', round === 3 ? png : ''),
      isError: round === 4,
    });
    messages.push(assistant(model, ...contentFrom(await ask({ thinking: 'high', messages }))));
    // Another model takes part, too.
    if (round === 1) messages.push(user('and you?'), assistant('y/other', called('call_0')), result('call_0', 'three'));
  }
  return fake.asked.map(({ body }) => body);
}

function unmarked(value: unknown): string {
  return JSON.stringify(value, (name, item: unknown) => (name === 'cache_control' ? undefined : item));
}

test.each(apis)('%s: what was said before stays the same to the byte in the next request', async (api) => {
  const bodies = await converse(api);
  for (const [at, body] of bodies.slice(1).entries()) {
    const before: Json[] = bodies[at].messages ?? bodies[at].input;
    const now: Json[] = body.messages ?? body.input;
    expect(now.length).toBeGreaterThan(before.length);
    for (const [index, message] of before.entries()) expect(unmarked(now[index])).toBe(unmarked(message));
    for (const field of ['system', 'instructions', 'tools', 'prompt_cache_key'])
      expect(unmarked(body[field])).toBe(unmarked(bodies[at][field]));
  }
});

describe('anthropic', () => {
  test('is told to keep the instructions and what was said up to the newest two turns of the person', async () => {
    for (const body of await converse('anthropic')) {
      expect(body.system.at(-1).cache_control).toEqual({ type: 'ephemeral' });
      const turns: Json[] = body.messages.filter(({ role }: Json) => role === 'user');
      const marked = turns.filter(({ content }) => content.at(-1).cache_control !== undefined);
      expect(marked).toEqual(turns.slice(-2));
      const count = JSON.stringify(body).split('"cache_control"').length - 1;
      expect(count).toBe(1 + marked.length);
      expect(count).toBeLessThanOrEqual(4);
    }
  });

  test.each([
    ['instructions', { system: 'You are another.' }],
    ['a tool more', { tools: [echo, { ...echo, name: 'shout' }] }],
    ['a tool less', { tools: [] }],
    ['a tool described otherwise', { tools: [{ ...echo, description: 'Repeats.' }] }],
  ])('is not given thoughts that were signed under other circumstances: %s', async (_, changed) => {
    await using fake = await createStrictModel();
    const model = thinkers.anthropic;
    const { ask } = createAsking('anthropic', fake.url);
    fake.script([{ thinking: 'old', signature: 'old-sig' }, { text: 'one' }], [{ thinking: 'new', signature: 'new-sig' }, { text: 'two' }]);
    const first = [user('hello'), assistant(model, ...contentFrom(await ask({ thinking: 'high' }))), user('and?')];
    const second = assistant(model, ...contentFrom(await ask({ thinking: 'high', messages: first, ...changed })));
    expect(JSON.stringify(fake.asked[1]?.body)).not.toContain('old-sig');
    await ask({ thinking: 'high', messages: [...first, second, user('so?')], ...changed });
    expect(JSON.stringify(fake.asked[2]?.body)).not.toContain('old-sig');
    expect(JSON.stringify(fake.asked[2]?.body)).toContain('new-sig');
  });
});

test('openai-responses is told which session it is, so that it keeps the prompt', async () => {
  await using fake = await createStrictModel();
  expect(textOf(await createAsking('openai-responses', fake.url).ask({ sessionId: 'ses_42' }))).toBe('ok');
  expect(fake.asked[0]?.body).toMatchObject({ prompt_cache_key: 'ses_42', store: false });
});
