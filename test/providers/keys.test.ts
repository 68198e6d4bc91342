import { describe, expect, test } from 'vitest';
import type { KeyDeps } from '../../src/providers/keys.js';
import { createProviders } from '../../src/providers/providers.js';
import { apis, type Api, type ProviderConfig } from '../../src/machine/provider-config.js';
import type { FakeModel } from '../support/fake-model/server.js';
import { createAsking, failureOf, oneByOne, textOf, thinkers, user, type AskingOptions } from './asking.js';
import { createRawServer } from './raw-server.js';
import { createStrictModel } from './strict-model.js';

/** Every place at which a key may be, the best first. */
const places: [from: string, config: Partial<ProviderConfig>, deps: Partial<KeyDeps>][] = [
  ['config.json', { apiKey: 'key-config' }, {}],
  ['the command print-key', { apiKeyCommand: ['print-key', '--now'] }, { runCommand: async () => '\n key-command \r\nlogin: me\r\n' }],
  ['the environment variable X_KEY', { apiKeyEnv: 'X_KEY' }, { env: { X_KEY: ' key-env\n' } }],
  ['auth.json', {}, { storedKey: (provider) => (provider === 'x' ? 'key-kept' : undefined) }],
];

function optionsFrom(some: typeof places): AskingOptions {
  const deps = Object.assign({}, ...some.map(([, , given]) => given)) as Partial<KeyDeps>;
  return { ...deps, apiKey: null, config: Object.assign({}, ...some.map(([, config]) => config)) as Partial<ProviderConfig> };
}

/** The place that counts is the one to change. */
const remedies = [
  'change providers.x.api_key there',
  'look at providers.x.api_key_command in config.json',
  'set another in X_KEY, where the daemon runs',
  'set another with berth auth set x',
];

function keyIn(fake: FakeModel): string | undefined {
  return fake.asked.at(-1)?.headers.authorization;
}

describe.each(apis)('the key of %s', (api) => {
  test.each(places.map(([from], at) => [from, at] as const))('is the one from %s when the better ones are missing', async (from, at) => {
    await using fake = await createStrictModel();
    const { ask } = createAsking(api, fake.baseUrl(api), optionsFrom(places.slice(at)));
    expect(textOf(await ask())).toBe('ok');
    expect(keyIn(fake)).toBe(`Bearer ${['key-config', 'key-command', 'key-env', 'key-kept'][at]}`);
    // What a command printed is looked up once more.
    fake.script({ status: 401 }, ...(from.includes('command') ? [{ status: 401 }] : []));
    expect(failureOf(await ask()).message).toBe(`x did not accept the key from ${from}; ${remedies[at]}`);
  });

  test('that a command prints is remembered, also by those who ask at the same time', async () => {
    await using fake = await createStrictModel();
    const ran: (readonly string[])[] = [];
    const runCommand = async (argv: readonly string[]): Promise<string> => `key-${ran.push(argv)}\n`;
    const { ask } = createAsking(api, fake.baseUrl(api), { apiKey: null, config: { apiKeyCommand: ['print-key', '--now'] }, runCommand });
    await Promise.all([ask(), ask(), ask()]);
    await ask();
    expect(ran).toEqual([['print-key', '--now']]);
    expect(fake.asked.map(({ headers }) => headers.authorization)).toEqual(Array(4).fill('Bearer key-1'));
  });

  test('that a command printed once is looked up again, once, when it is not accepted any more', async () => {
    await using fake = await createStrictModel();
    let ran = 0;
    const runCommand = async (): Promise<string> => `key-${++ran}`;
    const { ask } = createAsking(api, fake.baseUrl(api), { apiKey: null, config: { apiKeyCommand: ['print-key'] }, runCommand });
    fake.keys = new Set(['key-1']);
    expect(textOf(await ask())).toBe('ok');
    fake.keys = new Set(['key-2']);
    expect(textOf(await ask())).toBe('ok');
    expect(ran).toBe(2);
    fake.keys = new Set();
    const failure = failureOf(await ask());
    expect(failure.message).toBe('x did not accept the key from the command print-key; look at providers.x.api_key_command in config.json');
    expect(failure).not.toHaveProperty('retry');
    expect(ran).toBe(3);
    // Freshly printed and refused: it is not asked for twice in one request.
    await ask();
    expect(ran).toBe(4);
    expect(fake.asked).toHaveLength(1 + 2 + 2 + 1);
  });

  test('from elsewhere is not tried twice', async () => {
    await using fake = await createStrictModel();
    fake.keys = new Set(['another']);
    expect(failureOf(await createAsking(api, fake.baseUrl(api)).ask()).message).toContain('config.json');
    expect(fake.asked).toHaveLength(1);
  });

  test.each<[string, AskingOptions, string]>([
    [
      'a command that fails',
      { config: { apiKeyCommand: ['print-key'] }, runCommand: () => Promise.reject(new Error('the command print-key was not found')) },
      'no key for x: the command print-key was not found',
    ],
    [
      'a command that prints nothing',
      { config: { apiKeyCommand: ['print-key'] }, runCommand: async () => ' \n' },
      'no key for x: the command print-key printed nothing',
    ],
    [
      'a command that prints other letters',
      { config: { apiKeyCommand: ['print-key'] }, runCommand: async () => 'kéy\n' },
      'no key for x: what the command print-key has is not a key; look at providers.x.api_key_command in config.json',
    ],
    [
      'a variable that is not set',
      { config: { apiKeyEnv: 'X_KEY' } },
      'no key for x: X_KEY is not set where the daemon runs; berth auth set x keeps one',
    ],
    [
      'a variable that is empty',
      { config: { apiKeyEnv: 'X_KEY' }, env: { X_KEY: ' ' } },
      'no key for x: X_KEY is not set where the daemon runs; berth auth set x keeps one',
    ],
    [
      'a variable with other letters',
      { config: { apiKeyEnv: 'X_KEY' }, env: { X_KEY: 'kéy' } },
      'no key for x: what the environment variable X_KEY has is not a key; set another in X_KEY, where the daemon runs',
    ],
    [
      'a file that cannot be read',
      {
        storedKey: () => {
          throw new Error('auth.json may be read by others; chmod 600 it');
        },
      },
      'no key for x: auth.json may be read by others; chmod 600 it',
    ],
  ])('is missed in words that help: %s', async (_, options, message) => {
    await using fake = await createStrictModel();
    const deltas = await createAsking(api, fake.baseUrl(api), { apiKey: null, ...options }).ask();
    expect(deltas).toEqual([{ type: 'failure', message }]);
    expect(fake.asked).toEqual([]);
  });

  test('may be none, for a server that wants none', async () => {
    await using server = await createRawServer((response) => response.writeHead(401).end());
    const failure = failureOf(await createAsking(api, server.url, { apiKey: null }).ask());
    expect(server.requests).toHaveLength(1);
    expect(server.requests[0]?.headers).not.toHaveProperty('authorization');
    expect(server.requests[0]?.headers).not.toHaveProperty('x-api-key');
    expect(failure.message).toBe('x wants a key; add one with berth auth set x');
  });

  test('may stand in a header of the config, with others', async () => {
    await using fake = await createStrictModel();
    for (const name of ['Authorization', 'authorization']) {
      const config = { headers: { [name]: 'Bearer gateway-key', 'X-Title': 'berth' } };
      for (const apiKey of [null, 'key-config']) {
        expect(textOf(await createAsking(api, fake.baseUrl(api), { apiKey, config }).ask())).toBe('ok');
        expect(fake.asked.at(-1)?.headers).toMatchObject({ authorization: 'Bearer gateway-key', 'x-title': 'berth' });
      }
    }
  });
});

describe.each<[string, Api, string]>([
  ['anthropic', 'anthropic', 'ANTHROPIC_API_KEY'],
  ['openai', 'openai-responses', 'OPENAI_API_KEY'],
])('the provider %s', (name, api, variable) => {
  function providersWith(config: Partial<ProviderConfig>, deps: Partial<KeyDeps>) {
    return createProviders(
      { providers: { [name]: { headers: {}, models: [], ...config } }, offlineWordsPerSecond: 0, modelIdleMs: 20_000 },
      { env: {}, storedKey: () => undefined, runCommand: async () => '', ...deps },
    );
  }
  const model = thinkers[api].replace('x/', `${name}/`);
  const request = { model, sessionId: 's', thinking: 'off' as const, system: 's', messages: [user('hello')], tools: [] };

  test(`takes its key from ${variable} when there is no better one`, async () => {
    await using fake = await createStrictModel();
    for (const [deps, key] of [
      [{}, 'key-known'],
      [{ storedKey: (provider: string) => (provider === name ? 'key-kept' : undefined) }, 'key-kept'],
    ] as const) {
      const providers = providersWith({ baseUrl: fake.url }, { env: { [variable]: 'key-known' }, ...deps });
      for await (const delta of oneByOne(providers.find(model)!.stream(request, new AbortController().signal)))
        expect(delta.type).not.toBe('failure');
      expect(keyIn(fake)).toBe(`Bearer ${key}`);
      expect(providers.defaultModel()).toMatch(new RegExp(`^${name}/`));
    }
  });

  test('without a key says how to give it one, and is not the default', async () => {
    const providers = providersWith({}, {});
    for await (const delta of oneByOne(providers.find(model)!.stream(request, new AbortController().signal))) {
      const message = `no key for ${name}: add one with berth auth set ${name}, or set ${variable} where the daemon runs`;
      expect(delta).toEqual({ type: 'failure', message });
    }
    expect(providers.defaultModel()).toBe('offline/guide');
  });
});
