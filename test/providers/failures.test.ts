import { describe, expect, test } from 'vitest';
import type { ModelFailure } from '../../src/providers/port.js';
import { apis, type Api } from '../../src/machine/provider-config.js';
import { badKey, errorBody, quota, rateLimited } from '../support/fake-model/failures.js';
import type { Failure, Reply } from '../support/fake-model/reply.js';
import { createAsking, failureOf, key, thinkers, type AskingOptions } from './asking.js';
import { createStrictModel } from './strict-model.js';

/** How a provider's answer is told, after exactly one request. */
async function failWith(api: Api, reply: Reply, options: AskingOptions = {}): Promise<ModelFailure> {
  await using fake = await createStrictModel();
  fake.script(reply);
  const deltas = await createAsking(api, fake.baseUrl(api), options).ask();
  expect(deltas).toHaveLength(1);
  expect(fake.asked).toHaveLength(1);
  return failureOf(deltas);
}

const refused = 'x refused the request';
const ownError = 'x had an internal server error';
const overloaded = 'x is overloaded';
const outOfCredit = 'the account of the key from config.json at x has no credit or quota left; add some there, or choose another model';

describe.each(apis)('%s', (api) => {
  const model = thinkers[api].slice(2);

  test.each<[number, Partial<ModelFailure>]>([
    [400, { message: refused }],
    [401, { message: 'x did not accept the key from config.json; change providers.x.api_key there' }],
    [402, { message: outOfCredit }],
    [403, { message: 'x does not let the key from config.json do this; change providers.x.api_key there' }],
    [404, { message: `x does not know ${model}, or its base_url is wrong; berth models lists what it has` }],
    [405, { message: refused }],
    [408, { message: ownError, retry: {} }],
    [409, { message: ownError, retry: {} }],
    [413, { message: 'the request is too large for x', overflow: true }],
    [422, { message: refused }],
    [429, { message: 'x: rate limit reached', retry: {} }],
    [500, { message: ownError, retry: {} }],
    [502, { message: ownError, retry: {} }],
    [503, { message: overloaded, retry: {} }],
    [504, { message: ownError, retry: {} }],
    [529, { message: overloaded, retry: {} }],
  ])('HTTP %i is told, with what the provider said', async (status, expected) => {
    const failure = await failWith(api, { status });
    const { cause, ...rest } = failure;
    expect(rest).toEqual(expected);
    expect(cause).toMatch(new RegExp(`^\\S.* \\(HTTP ${status}\\)$`));
  });

  test.each<[string, Failure]>([
    ['a page', { status: 502, body: `<html><head><title>502 Bad Gateway</title></head><body>${'x'.repeat(5_000)}</body></html>` }],
    ['plain words', { status: 502, body: 'Bad Gateway' }],
    ['a bare message', { status: 502, body: { object: 'error', message: 'Bad Gateway', type: 'BadGateway', code: 502 } }],
    ['a bare text', { status: 502, body: { error: 'Bad Gateway' } }],
    ['a detail', { status: 502, body: { detail: 'Bad Gateway' } }],
    ['an error in an error', { status: 502, body: { type: 'error', error: { type: 'api_error', message: 'Bad Gateway' } } }],
    ['an error', { status: 502, body: { error: { message: 'Bad Gateway', type: null, code: null } } }],
  ])('an error that is %s is read', async (_, reply) => {
    const { cause, retry } = await failWith(api, reply);
    expect(cause).toMatch(/^(502 )?Bad Gateway \(HTTP 502\)$/);
    expect(retry).toEqual({});
  });

  test.each(['', '{}', 'null', '[]', '{"error":null}', '{"error":{}}', '"text"', '{"error":{"message":{"deep":[1]}}}'])(
    'an error that says %j is one all the same',
    async (body) => {
      const failure = await failWith(api, { status: 500, body });
      expect(failure).toMatchObject({ message: ownError, retry: {} });
    },
  );

  test.each<[string | number | { ms: number }, number | undefined]>([
    [7, 7_000],
    [0, 0],
    ['1.5', 1_500],
    ['-3', 0],
    [{ ms: 1_250.5 }, 1_250.5],
    ['Wed, 21 Oct 2015 07:28:00 GMT', 0],
    ['soon', undefined],
  ])('a wait of %o is %s ms', async (retryAfter, afterMs) => {
    const { retry } = await failWith(api, rateLimited(api, retryAfter));
    expect(retry).toEqual(afterMs === undefined ? {} : { afterMs });
  });

  test('a wait until a moment is counted from now', async () => {
    const { retry } = await failWith(api, rateLimited(api, new Date(Date.now() + 3_600_000)));
    expect(retry?.afterMs).toBeGreaterThan(3_500_000);
    expect(retry?.afterMs).toBeLessThanOrEqual(3_600_000);
  });

  test('a wait may come with any error that passes', async () => {
    expect((await failWith(api, { status: 503, headers: { 'retry-after': '3' } })).retry).toEqual({ afterMs: 3_000 });
  });

  test.each<[number, string, ModelFailure['retry']]>([
    [400, 'true', {}],
    [429, 'false', undefined],
    [500, 'false', undefined],
    [500, 'perhaps', {}],
  ])('HTTP %i with x-should-retry %s is believed', async (status, told, retry) => {
    expect((await failWith(api, { status, headers: { 'x-should-retry': told } })).retry).toEqual(retry);
  });

  test('nothing left to pay with is told, and not tried again', async () => {
    expect(await failWith(api, quota(api))).toMatchObject({ message: outOfCredit });
    expect(await failWith(api, quota(api))).not.toHaveProperty('retry');
  });
});

test.each<[Api, Failure]>([
  [
    'anthropic',
    {
      status: 429,
      body: { type: 'error', error: { type: 'rate_limit_error', message: 'x', details: { error_code: 'enforced_spend_limit_reached' } } },
    },
  ],
  [
    'anthropic',
    {
      status: 400,
      body: errorBody('anthropic', 400, {
        message: 'You have reached your specified API usage limits. You will regain access on 2026-12-01.',
      }),
    },
  ],
  [
    'anthropic',
    { status: 403, body: errorBody('anthropic', 403, { type: 'billing_error', message: 'There is an issue with your billing.' }) },
  ],
  [
    'openai-responses',
    {
      status: 400,
      body: errorBody('openai-chat', 400, { code: 'billing_hard_limit_reached', message: 'Billing hard limit has been reached' }),
    },
  ],
  [
    'openai-chat',
    { status: 429, body: errorBody('openai-chat', 429, { code: 'billing_not_active', message: 'Your account is not active.' }) },
  ],
  [
    'openai-chat',
    { status: 402, body: { error: { code: 402, message: 'Insufficient credits. Add more using https://openrouter.ai/credits' } } },
  ],
])('%s: no credit is told as that: %o', async (api, reply) => {
  const failure = await failWith(api, reply);
  expect(failure.message).toBe(outOfCredit);
  expect(failure).not.toHaveProperty('retry');
});

test.each<[Api, number, string]>([
  ['anthropic', 429, 'This request would exceed your organization’s rate limit of 50,000 input tokens per minute.'],
  ['anthropic', 429, 'Number of request tokens has exceeded your per-minute rate limit. Reduce the length of the prompt or wait.'],
  [
    'openai-responses',
    429,
    'Rate limit reached for gpt-6.1-sol on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000. Please try again in 2s.',
  ],
  ['openai-chat', 429, 'Too many tokens, please wait before trying again.'],
])('%s: a limit of the minute is neither an overflow nor a lack of credit: %i %s', async (api, status, message) => {
  const failure = await failWith(api, { status, body: errorBody(api, status, { message }) });
  expect(failure).toMatchObject({ message: 'x: rate limit reached', retry: {} });
  expect(failure).not.toHaveProperty('overflow');
});

describe.each(apis)('what is secret is not repeated by %s:', (api) => {
  const headers = { 'x-org-token': 'org-secret-value', 'x-gateway': 'Bearer gate-secret-value' };
  const other = 'gsk_9876543210zyxwvutsrqPONM';
  const leak = /0123456789|WXYZ|sk-t|org-secret|gate-secret|9876543210|PONM|gsk/;

  test.each([
    key,
    `Bearer ${key}`,
    `"${key}"`,
    `${key.slice(0, 8)}***************${key.slice(-4)}`,
    `sk-***${key.slice(-4)}`,
    `sk-...${key.slice(-4)}.`,
    `sk-…${key.slice(-4)}`,
    `***${key.slice(-4)}`,
    `${key.slice(0, 10)}...`,
    'org-secret-value',
    'gate-secret-value',
    'org-***lue',
    `[${other}] (${other.slice(0, 4)}****${other.slice(-4)})`,
  ])('%s', async (echoed) => {
    const apiKey = echoed.includes('gsk') ? other : key;
    const config = { headers, apiKey };
    for (const reply of [
      badKey(api, echoed),
      { status: 500, body: `no: ${echoed}` },
      { status: 400, body: { error: `no: ${echoed}` } },
      { status: 307, headers: { location: `http://elsewhere.invalid/?key=${encodeURIComponent(echoed)}` }, body: `no: ${echoed}` },
      [{ error: { message: `no: ${echoed}` } }],
      [{ error: { message: `no: ${echoed}`, form: 'nested' } }],
      [{ error: { message: `no: ${echoed}`, form: 'failed' } }],
    ] satisfies Reply[]) {
      await using fake = await createStrictModel();
      fake.script(reply);
      const failure = JSON.stringify(failureOf(await createAsking(api, fake.baseUrl(api), { config }).ask()));
      expect(failure).toContain('[key]');
      expect(failure).not.toMatch(leak);
    }
  });
});
