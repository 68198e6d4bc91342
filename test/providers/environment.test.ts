import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { apis } from '../../src/machine/provider-config.js';
import { createAsking, key, textOf } from './asking.js';
import { createRawServer, type RawServer } from './raw-server.js';
import { createStrictModel } from './strict-model.js';

const before = { ...process.env };
let elsewhere: RawServer;

beforeEach(async () => {
  elsewhere = await createRawServer((response) => response.writeHead(418).end());
  Object.assign(process.env, {
    ANTHROPIC_BASE_URL: elsewhere.url,
    ANTHROPIC_API_KEY: 'stray-key',
    ANTHROPIC_AUTH_TOKEN: 'stray-token',
    ANTHROPIC_CUSTOM_HEADERS: `Authorization: Bearer stray\nX-Stray: yes\nX-Own: stray`,
    ANTHROPIC_LOG: 'debug',
    ANTHROPIC_PROFILE: 'stray',
    OPENAI_BASE_URL: elsewhere.url,
    OPENAI_API_KEY: 'stray-key',
    OPENAI_ADMIN_KEY: 'stray-key',
    OPENAI_ORG_ID: 'stray-org',
    OPENAI_PROJECT_ID: 'stray-project',
    OPENAI_CUSTOM_HEADERS: `Authorization: Bearer stray\nX-Stray: yes\nX-Own: stray`,
    OPENAI_LOG: 'debug',
  });
});

afterEach(async () => {
  for (const name of Object.keys(process.env)) if (!(name in before)) Reflect.deleteProperty(process.env, name);
  Object.assign(process.env, before);
  await elsewhere[Symbol.asyncDispose]();
});

describe.each(apis)('%s', (api) => {
  test('takes nothing from the environment of the daemon but what it is told to', async () => {
    await using fake = await createStrictModel();
    expect(textOf(await createAsking(api, fake.baseUrl(api), { config: { headers: { 'X-Own': 'mine' } } }).ask())).toBe('ok');
    const { headers } = await fake.next();
    expect(JSON.stringify(headers)).not.toContain('stray');
    expect(headers).toMatchObject({ authorization: `Bearer ${key}`, 'x-own': 'mine' });
    expect(elsewhere.requests).toEqual([]);
  });

  test('does not help itself to a key that lies around', async () => {
    await using server = await createRawServer((response) => response.writeHead(401).end());
    await createAsking(api, server.url, { apiKey: null }).ask();
    expect(server.requests).toHaveLength(1);
    expect(JSON.stringify(server.requests[0]?.headers)).not.toContain('stray');
    expect(server.requests[0]?.headers).not.toHaveProperty('authorization');
  });

  test('asks for models with nothing of it, either', async () => {
    await using fake = await createStrictModel();
    await createAsking(api, fake.baseUrl(api)).providers.list();
    expect(fake.listings).toHaveLength(1);
    expect(JSON.stringify(fake.listings)).not.toContain('stray');
  });
});
