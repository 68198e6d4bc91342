import { describe, expect, test } from 'vitest';
import { limits } from '../../src/protocol/limits.js';
import { createProviders } from '../../src/providers/providers.js';
import { apis, type Api, type ModelEntry } from '../../src/machine/provider-config.js';
import type { FakeModel } from '../support/fake-model/server.js';
import { createAsking, key, textOf, type AskingOptions } from './asking.js';
import { createRawServer, writeForever } from './raw-server.js';
import { createStrictModel } from './strict-model.js';

async function list(api: Api, baseUrl: string, options: AskingOptions = {}) {
  const { providers } = createAsking(api, baseUrl, options);
  const { models, providers: listed } = await providers.list();
  return {
    providers,
    models: models.filter(({ model }) => model.startsWith('x/')),
    provider: listed.find(({ provider }) => provider === 'x')!,
  };
}

describe.each(apis)('the models of %s', (api) => {
  test('are listed by the names by which they are asked for', async () => {
    await using fake = await createStrictModel();
    fake.models = [{ id: 'small' }, { id: 'vendor/large:free', name: 'The Large One' }];
    const { models, provider } = await list(api, fake.baseUrl(api));
    expect(models.map(({ model }) => model)).toEqual(['x/small', 'x/vendor/large:free']);
    expect(models[1]?.title).toBe(api === 'anthropic' ? 'The Large One' : 'vendor/large:free');
    expect(provider).toEqual({ provider: 'x', api, key: 'config.json' });
    expect(fake.listings[0]?.authorization).toBe(`Bearer ${key}`);
    expect(textOf(await createAsking(api, fake.baseUrl(api)).ask({ model: 'x/vendor/large:free' }))).toBe('ok');
    expect(fake.asked[0]?.body.model).toBe('vendor/large:free');
  });

  test.each(['', '/', '/v1', '/v1/', '/v1//'])('are found, and answer, at an address that ends with %j', async (end) => {
    await using fake = await createStrictModel();
    const { models } = await list(api, `${fake.url}${end}`);
    expect(models).toHaveLength(1);
    expect(textOf(await createAsking(api, `${fake.url}${end}`).ask())).toBe('ok');
  });

  test('are known with what config says first, then what the provider tells, then the table', async () => {
    await using fake = await createStrictModel();
    fake.models = [{ id: 'told', extra: { max_input_tokens: 1_000, max_tokens: 100 } }];
    const own: ModelEntry[] = [
      { id: 'told', contextWindow: 5_000, price: { input: 1, output: 2, cache_read: 3, cache_write: 4 } },
      { id: 'own', title: 'My own', maxOutput: 7 },
    ];
    const { providers, models } = await list(api, fake.baseUrl(api), { config: { models: own } });
    expect(providers.facts('x/told')).toEqual({ contextWindow: 5_000, maxOutput: 100, price: own[0]?.price });
    expect(providers.facts('x/own')).toEqual({ contextWindow: null, maxOutput: 7, price: null });
    expect(providers.facts('x/nobody')).toEqual({ contextWindow: null, maxOutput: null, price: null });
    expect(models.map(({ model, title, context_window }) => [model, title, context_window])).toEqual([
      ['x/told', 'told', 5_000],
      ['x/own', 'My own', null],
    ]);
  });

  test.each<[string, FakeModel['models'], string]>([
    ['are refused', { status: 401 }, 'x: asked for its models, it answered HTTP 401'],
    ['cannot be told', { status: 500, body: `no, ${key}` }, 'x: asked for its models, it answered HTTP 500'],
    ['are elsewhere', { status: 307, headers: { location: 'http://elsewhere.invalid' } }, 'x: asked for its models, it answered HTTP 307'],
    ['are a page', { status: 200, body: '<html>' }, 'x: asked for its models, it answered something that is not JSON'],
    ['are nothing', { status: 200, body: '' }, 'x: asked for its models, it answered something that is not JSON'],
    ['are null', { status: 200, body: 'null' }, 'x: asked for its models, it answered something else'],
    ['are no list', { status: 200, body: { data: { id: 'a' } } }, 'x: asked for its models, it answered something else'],
    ['are an error', { status: 200, body: { error: { message: 'no' } } }, 'x: asked for its models, it answered something else'],
  ])('that %s are a problem in words, and those of the config stay', async (_, models, problem) => {
    await using fake = await createStrictModel();
    fake.models = models;
    const { provider, models: found } = await list(api, fake.baseUrl(api), { config: { models: [{ id: 'own' }] } });
    expect(provider).toEqual({ provider: 'x', api, key: 'config.json', problem });
    expect(found.map(({ model }) => model)).toEqual(['x/own']);
    expect(JSON.stringify(provider)).not.toContain(key);
  });

  test('that cannot be asked for are a problem in words', async () => {
    await using fake = await createStrictModel();
    fake.models = 'reset';
    expect((await list(api, fake.baseUrl(api))).provider.problem).toMatch(/^x: the connection was (reset|closed)$/);
    expect((await list(api, 'http://nothing.invalid')).provider.problem).toMatch(/^x: its host name/);
  });

  test('without a key to ask with are a problem in words', async () => {
    await using fake = await createStrictModel();
    const options: AskingOptions = { apiKey: null, config: { apiKeyEnv: 'X_KEY' } };
    const { provider, models } = await list(api, fake.baseUrl(api), options);
    expect(provider).toMatchObject({ key: null, problem: expect.stringContaining('X_KEY is not set') });
    expect(models).toEqual([]);
    expect(fake.listings).toEqual([]);
  });

  test('may be in a list with nonsense in it', async () => {
    await using fake = await createStrictModel();
    const nonsense = [
      null,
      17,
      'text',
      [],
      {},
      { id: '' },
      { id: 7 },
      { id: 'two words' },
      { id: 'good', max_model_len: -1, context_length: '9', meta: 3 },
    ];
    fake.models = { status: 200, body: { data: [...nonsense, { id: 'odd', meta: null, top_provider: null, display_name: 3 }] } };
    const { models, providers } = await list(api, fake.baseUrl(api));
    expect(models.map(({ model }) => model)).toEqual(['x/good', 'x/odd']);
    expect(providers.facts('x/good').contextWindow).toBeNull();
  });

  test('may be very many, of which a bounded number is listed', async () => {
    await using fake = await createStrictModel();
    const data = Array.from({ length: limits.modelsListedMax + 500 }, (_, n) => ({ id: `model-${n}` }));
    fake.models = { status: 200, body: { data } };
    expect((await list(api, fake.baseUrl(api))).models).toHaveLength(limits.modelsListedMax);
  });

  test('in a list without end are not waited for, and its sender is hung up on', async () => {
    let left: Promise<void> | undefined;
    await using server = await createRawServer((response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      left = writeForever(response, ' '.repeat(1024 * 1024));
    });
    expect((await list(api, server.url)).provider.problem).toBe(`x: its list of models is longer than ${limits.modelListBytesMax} bytes`);
    await left;
  });
});

test(
  'a list that never comes is waited for within a bound, before its headers as after them',
  { timeout: 3 * limits.modelListMs },
  async () => {
    await using mute = await createRawServer(() => undefined);
    await using slow = await createRawServer((response) => void response.writeHead(200).write('{"data":['));
    const problem = `x: asked for its models, it did not answer within ${limits.modelListMs / 1000} s`;
    const found = await Promise.all([list('openai-chat', mute.url), list('anthropic', slow.url)]);
    expect(found.map(({ provider }) => provider.problem)).toEqual([problem, problem]);
  },
);

test.each<[string, Api, ModelEntry['contextWindow'], ModelEntry['maxOutput'], Record<string, unknown>]>([
  ['Anthropic', 'anthropic', 1_000_000, 128_000, { max_input_tokens: 1_000_000, max_tokens: 128_000 }],
  ['vLLM', 'openai-chat', 16_384, undefined, { max_model_len: 16_384 }],
  [
    'OpenRouter',
    'openai-chat',
    32_768,
    8_192,
    { context_length: 32_768, top_provider: { context_length: 32_768, max_completion_tokens: 8_192 } },
  ],
  ['OpenRouter', 'openai-chat', 32_768, undefined, { context_length: 32_768, top_provider: { max_completion_tokens: null } }],
  ['llama.cpp', 'openai-chat', 131_072, undefined, { meta: { vocab_type: 1, n_ctx_train: 131_072 } }],
  ['llama.cpp', 'openai-chat', 4_096, undefined, { meta: { n_ctx: 4_096, n_ctx_train: 131_072 } }],
  ['OpenAI', 'openai-responses', undefined, undefined, {}],
])('the window of a model of %s (%s) is %s', async (_, api, contextWindow, maxOutput, extra) => {
  await using fake = await createStrictModel();
  fake.models = [{ id: 'some', extra }];
  const { providers, models } = await list(api, fake.baseUrl(api));
  expect(providers.facts('x/some')).toEqual({ contextWindow: contextWindow ?? null, maxOutput: maxOutput ?? null, price: null });
  expect(models).toEqual([
    { model: 'x/some', title: 'some', context_window: contextWindow ?? null, max_output: maxOutput ?? null, price: null },
  ]);
});

test('a provider that is built in knows its models from the table until it tells, and their prices after that', async () => {
  await using fake = await createStrictModel();
  const providers = createProviders(
    {
      providers: {
        anthropic: { baseUrl: fake.url, apiKey: key, headers: {}, models: [] },
        openai: { baseUrl: fake.url, headers: {}, models: [] },
      },
      offlineWordsPerSecond: 0,
      modelIdleMs: 1_000,
    },
    { env: {}, storedKey: () => undefined, runCommand: async () => '' },
  );
  const dated = providers.facts('anthropic/claude-opus-4-5-20251101');
  expect(dated).toEqual(providers.facts('anthropic/claude-opus-4-5'));
  expect(dated).toMatchObject({ contextWindow: 200_000, price: { input: 5 } });
  fake.models = [
    { id: 'claude-opus-4-5', maxInput: 123_000 },
    { id: 'claude-new', maxInput: 2_000_000 },
  ];
  const { models } = await providers.list();
  expect(models.filter(({ model }) => model.startsWith('anthropic/')).map(({ model }) => model)).toEqual([
    'anthropic/claude-opus-4-5',
    'anthropic/claude-new',
  ]);
  expect(providers.facts('anthropic/claude-opus-4-5')).toMatchObject({ contextWindow: 123_000, price: { input: 5 } });
  expect(providers.facts('anthropic/claude-new')).toEqual({ contextWindow: 2_000_000, maxOutput: 64_000, price: null });
});
