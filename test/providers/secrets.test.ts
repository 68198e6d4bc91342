import { describe, expect, test } from 'vitest';
import { toFailure, type FailureContext } from '../../src/providers/failures.js';
import { credentialsIn, scrub } from '../../src/providers/secrets.js';

const key = 'sk-proj-0123456789abcdefWXYZ';

describe('what a server repeats of a secret is taken out', () => {
  test.each([
    ['the key itself', `Incorrect API key provided: ${key}.`],
    ['the key in a header', `header "authorization: Bearer ${key}" is wrong`],
    ['the key in JSON', JSON.stringify({ got: key })],
    ['the key half hidden', 'Incorrect API key provided: sk-proj-********WXYZ.'],
    ['the end of the key', 'key ****WXYZ was revoked'],
  ])('%s', (_, text) => {
    const said = scrub(text, [key]);
    expect(said).toContain('[key]');
    for (const part of [key, 'sk-proj', 'WXYZ', '0123456789']) expect(said).not.toContain(part);
  });

  test.each([
    'sk-ant-api03-AbCdEfGhIjKlMnOpQrStUv0123456789',
    'sk-or-v1-0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef',
    'sk-abc1***************************wxyz',
    'AIzaSyA0123456789abcdefghijklmnopqrstuvw',
    'gsk_0123456789abcdefghijklmn',
    'AKIAIOSFODNN7EXAMPLE',
  ])('keys of others: %s', (other) => {
    expect(scrub(`upstream refused ${other}: no`, [])).toBe('upstream refused [key]: no');
  });
});

test('a configured header is not repeated, whatever it is called', () => {
  const headers = { 'x-team': 'harbour-7f3a', 'x-route': 'Bearer t0psecret', 'x-gateway-id': ' 8bytes!! ' };
  const echoed = `unknown headers: ${JSON.stringify(headers)}`;
  const said = scrub(echoed, credentialsIn(headers));
  for (const value of ['harbour-7f3a', 't0psecret', '8bytes!!']) expect(said).not.toContain(value);
  expect(said).toContain('x-team');
});

describe('what is no secret stays', () => {
  test.each([
    'pk-openai had an internal server error',
    'sk-learn-estimators-of-scikit are not known',
    'the model rk-large-instruct-preview does not exist',
    'token limit exceeded for application/json by my-own-router-prod',
    'unknown beta context-1m-2025-08-07 in prod',
    'Bearer authentication failed',
  ])('%s', (text) => {
    const headers = {
      accept: 'application/json',
      'anthropic-beta': 'context-1m-2025-08-07',
      'x-stage': 'prod',
      'x-title': 'my-own-router-prod',
      authorization: `Bearer ${key}`,
    };
    expect(scrub(text, [key, ...credentialsIn(headers)])).toBe(text);
  });

  test('headers that say that they hold a credential count at any length, without their scheme', () => {
    const headers = { Authorization: 'Bearer abc-123-def', 'api-key': 'k-1234567', Cookie: 'sid=99', 'x-title': 'harbour', gone: null };
    expect(credentialsIn(headers)).toEqual(['abc-123-def', 'k-1234567', 'sid=99']);
  });

  test('our own words are never touched, whatever a provider or a key is called', () => {
    const asked: FailureContext = {
      provider: 'openai',
      model: 'refused-model',
      keySource: 'OPENAI_API_KEY',
      remedy: '',
      secrets: ['openai', 'refused'],
    };
    const error = Object.assign(new Error('400 refused'), { status: 400, error: { message: 'openai refused it' }, headers: new Headers() });
    expect(toFailure(error, asked)).toEqual({ message: 'openai refused the request', cause: '[key] [key] it (HTTP 400)' });
  });
});

describe('the cause of a failure is one line of what a server says', () => {
  const asked: FailureContext = { provider: 'x', model: 'm', keySource: null, remedy: '', secrets: [] };
  const causeOf = (message: string): string | undefined =>
    toFailure(Object.assign(new Error(message), { status: 500, error: { message }, headers: new Headers() }), asked).cause;

  test.each([
    [
      'a trace of JavaScript',
      'TypeError: x is undefined\n    at f (/srv/app.js:3:9)\n    at g (/srv/app.js:9:1)',
      'TypeError: x is undefined',
    ],
    ['a trace in a line', 'Error: boom at f (/srv/app.js:3:9) at g (/srv/app.js:9:1)', 'Error: boom'],
    ['an escaped trace', 'Error: boom\\n    at f (/srv/app.js:3:9)', 'Error: boom'],
    ['a trace of Python', 'Traceback (most recent call last):\n  File "/srv/a.py", line 3, in f\nValueError: bad', 'ValueError: bad'],
    ['several lines', 'bad request:\n  - a is missing\n', 'bad request: - a is missing'],
  ])('%s', (_, text, said) => {
    expect(causeOf(text)).toBe(`${said} (HTTP 500)`);
  });

  test('and is bounded', () => {
    expect(causeOf('x'.repeat(10_000))?.length).toBeLessThan(600);
  });

  test('a connection that was closed is said in words alone', () => {
    const cause = Object.assign(new Error('closed'), { code: 'HUNG_UP' });
    expect(toFailure(new TypeError('fetch failed', { cause }), asked)).toEqual({ message: 'x: the connection was closed', retry: {} });
  });
});
