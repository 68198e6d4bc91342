import { describe, expect, test } from 'vitest';
import type { Api, Reply } from '../support/fake-model/reply.js';
import { createFakeModel, type FakeModel } from '../support/fake-model/server.js';
import { openTalk, type Talk } from '../support/talk.js';
import { apis, nameOf, startWithModels } from './providers.js';

const others: Record<Api, Api> = { anthropic: 'openai-responses', 'openai-responses': 'openai-chat', 'openai-chat': 'anthropic' };

async function lastText(talk: Talk): Promise<string | undefined> {
  return (await talk.texts('assistant')).at(-1);
}

function script(fake: FakeModel, ...replies: Reply[]): void {
  fake.script(...replies);
}

describe.each(apis)('a whole conversation over %s', (api) => {
  test('text, parallel tools with a steer between them, thinking, abort, resume, another provider, a summary, a follow-up', async () => {
    await using fake = await createFakeModel();
    await using daemon = await startWithModels(fake);
    const talk = await openTalk(daemon, undefined, { model: nameOf(api), thinking: 'medium' });

    // Text.
    script(fake, [{ text: 'Hello to you. ⚓ 船' }]);
    expect(await talk.run('hello')).toBe('completed');
    expect(await lastText(talk)).toBe('Hello to you. ⚓ 船');

    // Two calls in one response; a steer that comes while the first one runs skips the second.
    const question = { method: 'confirm', title: 'Go on?' };
    script(
      fake,
      [{ thinking: 'I need two tools.' }, { call: 'ask_user', args: question }, { call: 'echo', args: { text: 'two' } }],
      [{ text: 'As you wish.' }],
    );
    const run = await talk.prompt('use two tools');
    const { payload: request } = await talk.until((event) => event.type === 'ui_request');
    await talk.ok('steer', { text: 'only the first' });
    await talk.ok('ui_response', { request_id: request.request_id, result: true });
    expect(await talk.ended(run)).toBe('completed');
    const asked = fake.asked.at(-1);
    expect(asked?.text).toBe('only the first');
    expect(asked?.toolResults.map(({ text }) => text)).toEqual([expect.any(String), expect.stringContaining('Not run')]);

    // Parallel tools that both run.
    script(
      fake,
      [
        { call: 'clock', args: {} },
        { call: 'clock', args: { time_zone: 'UTC' } },
      ],
      [{ text: 'Two clocks.' }],
    );
    expect(await talk.run('what time is it')).toBe('completed');
    expect(fake.asked.at(-1)?.toolResults.map(({ isError }) => isError)).toEqual([false, false]);

    // Thinking that is given back with its signature.
    script(fake, [{ thinking: 'Deep thoughts.' }, { text: 'Shallow words.' }], [{ text: 'Yes.' }]);
    expect(await talk.run('think')).toBe('completed');
    expect((await talk.messages()).at(-1)?.content).toMatchObject([{ type: 'thinking', thinking: 'Deep thoughts.' }, { type: 'text' }]);
    expect(await talk.run('and again')).toBe('completed');

    // Abort in mid-sentence, then resume.
    script(fake, [{ text: 'This will never be ' }, { stall: true }]);
    const aborted = await talk.prompt('talk for ever');
    await talk.until((event) => event.type === 'message_update' && event.payload.run_id === aborted);
    await talk.ok('abort');
    expect(await talk.ended(aborted)).toBe('aborted');
    script(fake, [{ text: 'finished after all.' }]);
    const resumed = await talk.ok('resume_run', { run_id: aborted, action: 'continue' });
    expect(await talk.ended(resumed.run_id)).toBe('completed');

    // Another provider takes the history as it is.
    await talk.ok('set_model', { model: nameOf(others[api]) });
    script(fake, [{ thinking: 'Where was I?' }, { call: 'echo', args: { text: 'three' } }], [{ text: 'Here.' }]);
    expect(await talk.run('go on elsewhere')).toBe('completed');
    expect(fake.asked.at(-1)?.api).toBe(others[api]);

    // And the first one takes what the other said.
    await talk.ok('set_model', { model: nameOf(api) });
    script(fake, [{ thinking: 'Back again.' }, { text: 'Home.' }]);
    expect(await talk.run('come back')).toBe('completed');

    // A summary, with a follow-up that comes while it is made.
    let go: (value: unknown) => void = () => undefined;
    const gate = new Promise((resolve) => (go = resolve));
    script(fake, [{ text: '## Goal\nTo sail.' }, { gate }], [{ text: 'After the summary.' }]);
    const compaction = talk.ok('compact_session', { instruction: 'mind the boats' });
    await talk.until((event) => event.type === 'compaction_start');
    const followed = await talk.ok('follow_up', { text: 'what now' });
    go(undefined);
    expect(await compaction).toMatchObject({ summary: '## Goal\nTo sail.', trigger: 'manual' });
    expect(await talk.ended(followed.run_id)).toBe('completed');
    expect(await lastText(talk)).toBe('After the summary.');
    expect(JSON.stringify(fake.asked.at(-1)?.body)).toContain('To sail.');
    expect(JSON.stringify(fake.asked.at(-1)?.body)).not.toContain('use two tools');

    expect(fake.refusals).toEqual([]);
    const state = await talk.state();
    expect(state).toMatchObject({ run_state: 'idle', model: nameOf(api) });
  });

  test('usage is counted for each message and the session, and what is left of the window is known', async () => {
    await using fake = await createFakeModel();
    await using daemon = await startWithModels(fake);
    const talk = await openTalk(daemon, undefined, { model: nameOf(api) });
    script(fake, { steps: [{ text: 'ok' }], usage: { input: 1_000, output: 200, cacheRead: 50 } });
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

  test('a kill in mid-answer keeps what was said, and the strict server takes what follows', async () => {
    await using fake = await createFakeModel();
    await using daemon = await startWithModels(fake);
    const talk = await openTalk(daemon, undefined, { model: nameOf(api), thinking: 'high' });
    script(fake, [{ thinking: 'Half a thought' }, { text: 'Half an answer ' }, { call: 'echo', args: '{"te' }, { stall: true }]);
    const run = await talk.prompt('speak');
    await talk.until((event) => event.type === 'message_update' && event.payload.delta !== undefined);
    await daemon.kill9();
    await daemon.start();
    const again = await openTalk(daemon, talk.session);
    expect(await again.ended(run)).toBe('interrupted');
    script(fake, [{ text: 'and the rest.' }]);
    const resumed = await again.ok('resume_run', { run_id: run, action: 'continue' });
    expect(await again.ended(resumed.run_id)).toBe('completed');
    expect(fake.refusals).toEqual([]);
  });
});
