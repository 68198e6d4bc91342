import { describe, expect, test } from 'vitest';
import { ConfigRefused, parseConfig, readConfig } from '../../src/machine/config.js';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const parse = (text: string) => parseConfig(text, 'config.json');
const defaults = parse('{}');

function refused(text: string): string {
  try {
    parse(text);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigRefused);
    return (error as Error).message;
  }
  throw new Error(`taken: ${text}`);
}

test('an empty object is a good config: every key has a default', () => {
  expect(defaults).toMatchObject({
    model: undefined,
    thinking: undefined,
    providers: {},
    compactAtPercent: 85,
    modelAttempts: 8,
    modelIdleMs: 300_000,
    steeringMode: 'one-at-a-time',
    followUpMode: 'one-at-a-time',
    whenDetached: 'wait',
  });
});

test('what is written counts', () => {
  const config = parse(
    '{"model":"offline/x","thinking":"high","steering_mode":"all","follow_up_mode":"all","permissions":{"when_detached":"deny"},"limits":{"runs_at_once":2}}',
  );
  expect(config).toMatchObject({
    model: 'offline/x',
    thinking: 'high',
    steeringMode: 'all',
    followUpMode: 'all',
    whenDetached: 'deny',
    runsAtOnce: 2,
  });
});

describe('comments', () => {
  test.each([
    ['a line', '{ // why\n "thinking": "low" }'],
    ['at the end', '{"thinking":"low"} // done'],
    ['a block', '{ /* one\n two */ "thinking": /* in between */ "low" }'],
    ['with quotes', '{ // a "quote\n "thinking": "low" /* and " another */ }'],
    ['with a comment inside', '{ /* // */ "thinking": "low" // /* \n }'],
    ['stars', '{ /** stars **/ "thinking": "low" }'],
    ['before everything', '// first\n/* second */\n{"thinking":"low"}\n'],
    ['with CRLF', '{ // why\r\n "thinking": "low"\r\n}\r\n'],
  ])('%s is skipped', (_, text) => {
    expect(parse(text)).toEqual({ ...defaults, file: { thinking: 'low' }, thinking: 'low' });
  });

  test('slashes in strings are no comments', () => {
    expect(parse('{"model":"offline/a//b"}').model).toBe('offline/a//b');
    expect(parse('{"model":"offline/a/*b*/c"}').model).toBe('offline/a/*b*/c');
    expect(parse('{"model":"offline/quote\\"//no"}').model).toBe('offline/quote"//no');
    expect(parse('{"model":"offline/back\\\\"} // yes').model).toBe('offline/back\\');
  });

  test('one that never ends is an error, not a file without an end', () => {
    expect(refused('{"thinking":"low"} /* never')).toContain('config.json');
  });
});

describe('what is wrong is named', () => {
  test.each([
    ['{"modle":"offline/x"}', ['modle', 'did you mean model?']],
    ['{"Model":"offline/x"}', ['Model', 'did you mean model?']],
    ['{"steering-mode":"all"}', ['steering-mode', 'did you mean steering_mode?']],
    ['{"permissions":{"when_detatched":"wait"}}', ['permissions.when_detatched', 'did you mean permissions.when_detached?']],
    ['{"limits":{"runs_at_onec":3}}', ['limits.runs_at_onec', 'did you mean limits.runs_at_once?']],
    ['{"completely_else":1}', ['completely_else', 'model']],
    ['{"limits":{"zzz":3}}', ['limits.zzz', 'runs_at_once']],
    ['{"thinking":"hard"}', ['thinking', 'high']],
    ['{"steering_mode":5}', ['steering_mode']],
    ['{"model":"guide"}', ['model', 'provider/model']],
    ['{"limits":{"runs_at_once":0}}', ['limits.runs_at_once']],
    ['{"limits":{"runs_at_once":1.5}}', ['limits.runs_at_once']],
    ['{"limits":[]}', ['limits']],
    ['{"permissions":null}', ['permissions']],
    ['[]', ['the file']],
    ['null', ['the file']],
    ['"x"', ['the file']],
  ])('%s', (text, words) => {
    for (const word of words) expect(refused(text)).toContain(word);
    expect(refused(text)).toContain('config.json');
  });

  test('several mistakes are all named', () => {
    const message = refused('{"modle":"a/b","thinking":"hard","limits":{"x":1}}');
    for (const word of ['modle', 'thinking', 'limits.x']) expect(message).toContain(word);
  });

  test.each(['', ' ', '{', '{"model":}', "{'model':'a/b'}", '{"model":"a/b"', 'model: a/b'])(
    '%j is not JSON, and the message says where',
    (text) => {
      expect(refused(text)).toContain('config.json is not JSON');
    },
  );

  test('places in messages are those of the file, comments and all', () => {
    const text = '{\n  /* two\n     lines */ "model": oops\n}';
    const message = refused(text);
    const position = /position (\d+)/.exec(message)?.[1];
    if (position !== undefined) expect(text.slice(Number(position))).toMatch(/^o/);
  });

  test('hostile keys are wrong keys like any other', () => {
    for (const key of ['constructor', 'toString', 'hasOwnProperty']) expect(refused(`{"${key}":{}}`)).toContain(key);
    parse('{"model":"offline/x"}');
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
});

describe('keys', () => {
  test('are taken by their shape: what they mean is known to frontends', () => {
    const keys = { send: 'ctrl+enter', palette: ['ctrl+p', 'f1'], unbound: [], 'no.such.action': 'x' };
    expect(parse(JSON.stringify({ keys }))).toEqual({ ...defaults, file: { keys } });
  });

  test.each([
    [{ keys: { send: 5 } }, /keys\.send: must be a key, such as ctrl\+p, or a list/],
    [{ keys: { send: '' } }, /keys\.send: /],
    [{ keys: { send: 'x'.repeat(65) } }, /keys\.send: .*64 characters/],
    [{ keys: { send: ['a', null] } }, /keys\.send: must be a key/],
    [{ keys: { send: Array(17).fill('a') } }, /keys\.send: must be a key.* at most 16 keys/],
    [{ keys: { send: { key: 'a' } } }, /keys\.send: must be a key/],
    [{ keys: ['a'] }, /keys: /],
    [{ keys: { ['x'.repeat(101)]: 'a' } }, /keys\.x+: /],
    [{ keys: Object.fromEntries(Array.from({ length: 501 }, (_, i) => [`a${i}`, 'a'])) }, /keys: at most 500 actions/],
  ])('%j is refused by its name', (config, why) => {
    expect(refused(JSON.stringify(config))).toMatch(why);
  });
});

describe('the file', () => {
  test('that is not there is an empty one', () => {
    expect(readConfig('/nowhere/at/all')).toEqual(defaults);
  });

  test('that cannot be read is refused, not skipped', () => {
    const dir = mkdtempSync(join(tmpdir(), 'berth-config-'));
    try {
      mkdirSync(join(dir, 'config.json'));
      expect(() => readConfig(dir)).toThrow(ConfigRefused);
      rmSync(join(dir, 'config.json'), { recursive: true });
      writeFileSync(join(dir, 'config.json'), '{"thinking":"low"} // yes');
      expect(readConfig(dir)).toEqual({ ...defaults, file: { thinking: 'low' }, thinking: 'low' });
    } finally {
      rmSync(dir, { recursive: true });
    }
  });
});

describe('what it says about models', () => {
  const local = { api: 'openai-chat', base_url: 'http://127.0.0.1:11434/v1' };
  const wrong: [string, unknown, RegExp][] = [
    ['a model whose provider is misspelled', { model: 'antropic/x' }, /model: there is no provider antropic; did you mean anthropic\?/],
    [
      'a provider without an API',
      { providers: { local: { base_url: local.base_url } } },
      /providers\.local\.api: must be one of anthropic/,
    ],
    ['a provider without an address', { providers: { local: { api: 'openai-chat' } } }, /providers\.local\.base_url: must be the address/],
    [
      'an address that is none',
      { providers: { local: { ...local, base_url: 'localhost:11434' } } },
      /providers\.local\.base_url: must be an http/,
    ],
    [
      'a password in an address',
      { providers: { local: { ...local, base_url: 'http://me:secret@h/' } } },
      /base_url: must not have a name or password/,
    ],
    [
      'a key that is misspelled',
      { providers: { local: { ...local, api_kei: 'x' } } },
      /no key providers\.local\.api_kei; did you mean providers\.local\.api_key\?/,
    ],
    [
      'a key of a model that is misspelled',
      { providers: { local: { ...local, models: [{ id: 'x', context_windw: 1 }] } } },
      /context_windw; did you mean providers\.local\.models\.0\.context_window\?/,
    ],
    [
      'a header that no request can have',
      { providers: { local: { ...local, headers: { x: 'a\nb' } } } },
      /providers\.local\.headers\.x: must be printable/,
    ],
    ['settings of the guide', { providers: { offline: local } }, /providers\.offline: is built in/],
    ['patience beyond what there is', { limits: { model_idle_seconds: 301 } }, /limits\.model_idle_seconds/],
  ];

  test.each(wrong)('%s is refused by its name', (_what, config, why) => {
    expect(refused(JSON.stringify(config))).toMatch(why);
  });

  test('no refusal repeats a secret', () => {
    const config = { providers: { local: { ...local, api_key: 'canary\u0001secret', headers: { 'x y': 'canary-header' } } } };
    expect(refused(JSON.stringify(config))).not.toMatch(/canary/);
  });

  test('a price without cache prices counts those as input', () => {
    const models = [{ id: 'x', context_window: 8_192, price: { input: 2, output: 4 } }];
    expect(parse(JSON.stringify({ providers: { local: { ...local, models } } })).providers.local).toMatchObject({
      api: 'openai-chat',
      baseUrl: local.base_url,
      models: [{ id: 'x', contextWindow: 8_192, price: { input: 2, output: 4, cache_read: 2, cache_write: 2 } }],
    });
  });
});

test.each(['curl *', 'git pus?', 'cat [ab].txt', '  '])('a rule that could never match is refused when it is read: %j', (command) => {
  const text = JSON.stringify({ permissions: { rules: [{ tool: 'bash', command, action: 'deny' }] } });
  expect(() => parseConfig(text, '/c/config.json')).toThrow(/permissions\.rules\.0\.command: /);
});

test.each(['curl', "grep 'a*b'", 'grep "a?"', '[ -f x ]', 'ls a\\*'])('a rule whose words can be said is taken: %s', (command) => {
  const text = JSON.stringify({ permissions: { rules: [{ tool: 'bash', command, action: 'deny' }] } });
  expect(parseConfig(text, '/c/config.json').rules).toHaveLength(1);
});

test('retention has defaults that lose nothing a person wants, and is checked', () => {
  const dayMs = 24 * 3600 * 1000;
  const retentionOf = (given: object): unknown => parse(JSON.stringify({ retention: given })).retention;
  const kept = {
    logAgeMs: 30 * dayMs,
    logEvents: 500_000,
    artifactBytes: 512 * 1024 * 1024,
    artifactAgeMs: null,
    archivedAgeMs: null,
  };
  expect(retentionOf({})).toEqual(kept);
  expect(retentionOf({ artifacts_days: null, archived_days: null })).toEqual(kept);
  expect(retentionOf({ log_days: 7, log_events: 1_000, artifacts_mb: 1, artifacts_days: 2, archived_days: 90 })).toEqual({
    logAgeMs: 7 * dayMs,
    logEvents: 1_000,
    artifactBytes: 1024 * 1024,
    artifactAgeMs: 2 * dayMs,
    archivedAgeMs: 90 * dayMs,
  });
  for (const [key, value] of [
    ['log_days', 0],
    ['log_events', 10],
    ['artifacts_mb', 0],
    ['archived_days', -1],
    ['log_days', null],
  ] as const)
    // prettier-ignore
    expect(() => retentionOf({ [key]: value })).toThrow(`retention.${key}`);
  expect(() => retentionOf({ archive_days: 3 })).toThrow(/did you mean retention\.archived_days/);
});
