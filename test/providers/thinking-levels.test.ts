import { describe, expect, test } from 'vitest';
import type { ThinkingLevel } from '../../src/providers/port.js';
import type { Api } from '../../src/machine/provider-config.js';
import type { Json } from '../support/fake-model/shape.js';
import { createAsking, textOf, type AskingOptions } from './asking.js';
import { createStrictModel } from './strict-model.js';

async function bodyFor(api: Api, id: string, thinking: ThinkingLevel, options: AskingOptions = {}): Promise<Json> {
  await using fake = await createStrictModel();
  const deltas = await createAsking(api, fake.baseUrl(api), options).ask({ model: `x/${id}`, thinking });
  expect(textOf(deltas)).toBe('ok');
  expect(fake.asked).toHaveLength(1);
  return fake.asked[0]?.body;
}

const none = {};
const adaptive = (effort: string): object => ({ thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort } });
const budget = (budget_tokens: number): object => ({ thinking: { type: 'enabled', budget_tokens } });
const little = { output_config: { effort: 'low' } };
const disabled = { thinking: { type: 'disabled' } };
const betweenTools = { thinking: { type: 'between_tools' } };

describe('anthropic', () => {
  test.each<[string, ThinkingLevel, object]>([
    ['claude-haiku-4-5', 'off', none],
    ['claude-haiku-4-5-20251001', 'low', budget(4_096)],
    ['claude-sonnet-4-5', 'medium', budget(12_288)],
    ['claude-sonnet-4-5-20250929', 'high', budget(24_576)],
    ['claude-sonnet-4.5', 'low', budget(4_096)],
    ['anthropic/claude-opus-4.5', 'off', none],
    ['claude-opus-4-5-20251101', 'high', budget(24_576)],
    ['claude-opus-4-20250514', 'low', budget(4_096)],
    ['anthropic.claude-opus-4-1-20250805-v1:0', 'low', budget(4_096)],
    ['claude-3-7-sonnet-20250219', 'low', budget(4_096)],
    ['claude-3-5-haiku-20241022', 'high', none],
    ['claude-opus-4-6', 'off', none],
    ['claude-opus-4-6', 'high', adaptive('high')],
    ['claude-sonnet-4-6', 'low', adaptive('low')],
    ['claude-opus-4-7', 'off', none],
    ['claude-opus-4-8', 'medium', adaptive('medium')],
    ['claude-sonnet-5', 'off', disabled],
    ['claude-sonnet-5', 'high', adaptive('high')],
    ['claude-opus-5', 'off', disabled],
    ['claude-opus-5-20260401', 'off', disabled],
    ['claude-opus-5', 'low', adaptive('low')],
    ['claude-fable-5', 'off', little],
    ['claude-mythos-5', 'off', little],
    ['claude-fable-5-1', 'off', little],
    ['claude-fable-5-2', 'high', adaptive('high')],
    ['claude-mythos-preview', 'off', little],
    ['claude-opus-5-5', 'off', little],
    ['claude-opus-5-5', 'medium', adaptive('medium')],
    ['claude-sonnet-5-5', 'off', betweenTools],
    ['claude-sonnet-5-5', 'high', adaptive('high')],
    ['claude-haiku-5-5', 'off', disabled],
    ['claude-haiku-5-5', 'low', adaptive('low')],
    ['claude-next', 'off', little],
    ['claude-next', 'high', adaptive('high')],
    ['glm-5', 'off', none],
    ['glm-5', 'high', budget(24_576)],
  ])('%s is asked to think %s in the words that it knows', async (id, level, expected) => {
    const { thinking, output_config, max_tokens } = await bodyFor('anthropic', id, level);
    expect({ ...(thinking && { thinking }), ...(output_config && { output_config }) }).toEqual(expected);
    const { budget_tokens = 0 } = (expected as { thinking?: { budget_tokens?: number } }).thinking ?? {};
    expect(max_tokens).toBe(32_000 + budget_tokens);
  });

  test.each([
    { maxOutput: 32_000, max_tokens: 32_000, budget: 16_000 },
    { maxOutput: 50_000, max_tokens: 50_000, budget: 24_576 },
    { maxOutput: 8_192, max_tokens: 8_192, budget: 4_096 },
    { maxOutput: 2_000, max_tokens: 2_000, budget: undefined },
  ])('a model that says at most $maxOutput tokens is not allowed more with its thoughts', async ({ maxOutput, max_tokens, budget }) => {
    const models = [{ id: 'claude-opus-4-1', maxOutput }];
    const body = await bodyFor('anthropic', 'claude-opus-4-1', 'high', { config: { models } });
    expect(body).toMatchObject({ max_tokens });
    expect(body.thinking?.budget_tokens).toBe(budget);
  });
});

describe('openai-responses', () => {
  test.each<[string, ThinkingLevel, string | undefined]>([
    ['gpt-5', 'off', 'minimal'],
    ['gpt-5-mini', 'off', 'minimal'],
    ['gpt-5-2025-08-07', 'off', 'minimal'],
    ['gpt-5', 'high', 'high'],
    ['gpt-5-codex', 'off', 'low'],
    ['gpt-5-chat-latest', 'high', undefined],
    ['gpt-5.1', 'off', 'none'],
    ['gpt-5.1', 'low', 'low'],
    ['gpt-5.2-pro', 'off', 'low'],
    ['gpt-5.6-sol', 'off', 'none'],
    ['gpt-6-sol', 'off', 'none'],
    ['gpt-6-astra', 'off', 'low'],
    ['gpt-6.1-terra', 'off', 'none'],
    ['gpt-6.1-sol', 'off', 'low'],
    ['gpt-6.1-sol', 'medium', 'medium'],
    ['gpt-4.1', 'off', undefined],
    ['gpt-4.1', 'high', undefined],
    ['gpt-4o-mini', 'medium', undefined],
    ['chatgpt-4o-latest', 'high', undefined],
    ['o3', 'off', 'low'],
    ['o3', 'high', 'high'],
    ['o4-mini', 'medium', 'medium'],
    ['gpt-oss-120b', 'off', undefined],
    ['gpt-oss-120b', 'low', 'low'],
    ['some-model', 'off', undefined],
    ['some-model', 'high', 'high'],
  ])('%s is asked to think %s with the effort %s', async (id, level, effort) => {
    const { reasoning, include } = await bodyFor('openai-responses', id, level);
    expect(reasoning).toEqual(effort === undefined ? undefined : { effort, summary: 'auto' });
    expect(include).toEqual(effort === undefined ? undefined : ['reasoning.encrypted_content']);
  });

  test('is told how much to say when the config says so', async () => {
    expect((await bodyFor('openai-responses', 'gpt-5', 'off')).text).toBeUndefined();
    expect((await bodyFor('openai-responses', 'gpt-5', 'off', { config: { verbosity: 'low' } })).text).toEqual({ verbosity: 'low' });
  });
});

describe('openai-chat', () => {
  test.each<[ThinkingLevel, string | undefined]>([
    ['off', undefined],
    ['low', 'low'],
    ['medium', 'medium'],
    ['high', 'high'],
  ])('is asked to think %s with the effort %s', async (level, effort) => {
    expect((await bodyFor('openai-chat', 'some-model', level)).reasoning_effort).toBe(effort);
  });

  test('is told how much to say when the config says so', async () => {
    expect((await bodyFor('openai-chat', 'some-model', 'off', { config: { verbosity: 'high' } })).verbosity).toBe('high');
  });
});
