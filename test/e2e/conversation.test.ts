import { describe, expect, test } from 'vitest';
import type { Api } from '../support/fake-model/reply.js';
import { createFakeModel } from '../support/fake-model/server.js';
import { openTalk } from '../support/talk.js';
import { holdConversation } from './conversation.js';
import { apis, nameOf, startWithModels } from './providers.js';

const others: Record<Api, Api> = { anthropic: 'openai-responses', 'openai-responses': 'openai-chat', 'openai-chat': 'anthropic' };

describe.each(apis)('a whole conversation over %s', (api) => {
  test('text, parallel tools with a steer between them, thinking, abort, resume, another provider, a summary, a follow-up', async () => {
    await using fake = await createFakeModel();
    await using daemon = await startWithModels(fake);
    const talk = await openTalk(daemon);
    await holdConversation(talk, { model: nameOf(api), other: nameOf(others[api]), script: fake.script });
    expect(fake.refusals).toEqual([]);

    const texts = await talk.texts('assistant');
    expect(texts[0]).toBe('Hello to you. ⚓ 船');
    expect(texts.at(-1)).toBe('After the summary.');
    const steered = fake.asked.find(({ text }) => text.startsWith('That is enough'));
    expect(steered?.toolResults.map(({ text }) => text)).toEqual([expect.any(String), expect.stringContaining('Not run')]);
    const lists = fake.asked
      .filter(({ toolResults }) => toolResults.length === 2)
      .map(({ toolResults }) => toolResults.map(({ isError }) => isError));
    expect(lists).toContainEqual([false, false]);
    const thoughtful = (await talk.messages()).filter(({ content }) => JSON.stringify(content).includes('Deep thoughts.'));
    expect(thoughtful).toHaveLength(1);
    expect(fake.asked.map((asked) => asked.api)).toContain(others[api]);
    const last = JSON.stringify(fake.asked.at(-1)?.body);
    expect(last).toContain('To sail.');
    expect(last).not.toContain('with an anchor');
  });

  test('usage is counted for each message and the session, and what is left of the window is known', async () => {
    await using fake = await createFakeModel();
    await using daemon = await startWithModels(fake);
    const talk = await openTalk(daemon, undefined, { model: nameOf(api) });
    fake.script({ steps: [{ text: 'ok' }], usage: { input: 1_000, output: 200, cacheRead: 50 } });
    expect(await talk.run('count')).toBe('completed');
    const message = (await talk.messages()).at(-1);
    expect(message).toMatchObject({ model: nameOf(api), stop_reason: 'stop', usage: { input: 1_000, output: 200, cache_read: 50 } });
    const { usage, context_left_percent } = await talk.state();
    expect(usage).toMatchObject({ input: 1_000, output: 200 });
    if (api === 'openai-chat') expect([(usage as { cost_usd: unknown }).cost_usd, context_left_percent]).toEqual([null, null]);
    else {
      expect((usage as { cost_usd: number }).cost_usd).toBeGreaterThan(0);
      expect(context_left_percent).toBe(99);
    }
  });

  test('a real model is not told of the tools of the offline guide, and cannot call them', async () => {
    await using fake = await createFakeModel();
    await using daemon = await startWithModels(fake);
    const talk = await openTalk(daemon, undefined, { model: nameOf(api) });
    fake.script([{ call: 'echo', args: { text: 'x' } }], [{ text: 'Oh.' }]);
    expect(await talk.run('echo something')).toBe('completed');
    const [first, second] = fake.asked;
    expect(JSON.stringify(first?.body)).not.toMatch(/Says a text back|Tells the current date/);
    expect(second?.toolResults).toMatchObject([{ text: expect.stringContaining('There is no tool named "echo"') }]);
    const active = async (): Promise<string[]> => {
      const { tools } = (await talk.ok('list_tools')) as unknown as { tools: { name: string; active: boolean }[] };
      return tools.filter((tool) => tool.active).map(({ name }) => name);
    };
    expect(await active()).not.toContain('echo');
    await talk.ok('set_model', { model: 'offline/guide' });
    expect(await active()).toEqual(expect.arrayContaining(['clock', 'echo']));
  });

  test('a kill in mid-answer keeps what was said, and the strict server takes what follows', async () => {
    await using fake = await createFakeModel();
    await using daemon = await startWithModels(fake);
    const talk = await openTalk(daemon, undefined, { model: nameOf(api), thinking: 'high' });
    fake.script([{ thinking: 'Half a thought' }, { text: 'Half an answer ' }, { call: 'echo', args: '{"te' }, { stall: true }]);
    const run = await talk.prompt('speak');
    await talk.until((event) => event.type === 'message_update' && event.payload.delta !== undefined);
    await daemon.kill9();
    await daemon.start();
    const again = await openTalk(daemon, talk.session);
    expect(await again.ended(run)).toBe('interrupted');
    fake.script([{ text: 'and the rest.' }]);
    const resumed = await again.ok('resume_run', { run_id: run, action: 'continue' });
    expect(await again.ended(resumed.run_id)).toBe('completed');
    expect(fake.refusals).toEqual([]);
  });
});
