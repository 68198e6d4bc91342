import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { setKey } from '../../src/machine/auth-file.js';
import { badKey, overflow, overloaded, quota, rateLimited } from '../support/fake-model/failures.js';
import type { Api, Reply } from '../support/fake-model/reply.js';
import { createFakeModel } from '../support/fake-model/server.js';
import type { RawLine } from '../support/raw-client.js';
import { openTalk, type Talk } from '../support/talk.js';
import { apis, nameOf, providersAt, startWithModels, testKey } from './providers.js';

function eventsOf(talk: Talk, type: string): RawLine[] {
  return talk.events.lines.filter((line) => line.ok === undefined && line.type === type);
}

function retriesOf(talk: Talk): RawLine['payload'][] {
  return eventsOf(talk, 'error').flatMap(({ payload }) => (payload.retry_in_ms === undefined ? [] : [payload]));
}

describe.each(apis)('on a bad day of %s', (api) => {
  const passing: [string, (api: Api) => Reply][] = [
    // Goes first: on a connection that is kept from an answer before, the first reset would only be a reason to open another one.
    ['resets the connection', () => 'reset'],
    ['is overloaded', overloaded],
    ['limits the rate', (limited) => rateLimited(limited, { ms: 5 })],
    ['answers 408', () => ({ status: 408 })],
    ['answers 409', () => ({ status: 409 })],
    ['answers 500', () => ({ status: 500 })],
    ['ends in mid-sentence', () => [{ text: 'half of it ' }, { end: true }]],
    ['is cut in the middle of a call', () => [{ text: 'calling ' }, { call: 'echo', args: '{"text":"ha' }, { end: true }]],
    ['sends garbage', () => [{ text: 'some ' }, { raw: 'event: message\ndata: {not json\n\n' }]],
    ['fails in its stream', () => [{ text: 'some ' }, { error: { type: 'overloaded_error', message: 'Overloaded' } }]],
  ];

  test('whoever watches sees each attempt, and the answer is there once', async () => {
    await using fake = await createFakeModel();
    await using daemon = await startWithModels(fake, { config: { limits: { model_retry_ms: 1, model_attempts: 20 } } });
    for (const [what, make] of passing) {
      const talk = await openTalk(daemon, undefined, { model: nameOf(api) });
      fake.script(make(api), make(api), [{ text: 'whole at last' }]);
      expect([what, await talk.run('go')]).toEqual([what, 'completed']);
      expect([what, await talk.texts('assistant')]).toEqual([what, ['whole at last']]);
      expect([what, retriesOf(talk).map(({ attempt }) => attempt)]).toEqual([what, [1, 2]]);
      expect([what, talk.told().filter((type) => type.startsWith('tool_'))]).toEqual([what, []]);
      expect(await talk.run('more')).toBe('completed');
    }
    expect(fake.refusals).toEqual([]);
  });

  const lasting: [string, (api: Api) => Reply, RegExp][] = [
    ['no credit', quota, /no credit or quota left/],
    ['a bad key', (refused) => badKey(refused, testKey), /did not accept the key from config\.json; change providers\.\w+\.api_key there/],
    ['no such model', () => ({ status: 404 }), /does not know .*berth models/],
    ['a bad request', () => ({ status: 400, body: { error: { message: 'no', type: 'invalid_request_error' } } }), /refused the request/],
  ];

  test('what will not pass fails at once, says what to do, and leaves a session that works', async () => {
    await using fake = await createFakeModel();
    await using daemon = await startWithModels(fake);
    const talk = await openTalk(daemon, undefined, { model: nameOf(api) });
    for (const [what, make, why] of lasting) {
      fake.script(make(api));
      expect([what, await talk.run('go')]).toEqual([what, 'failed']);
      const { last_run } = (await talk.state()) as unknown as { last_run: { error: { code: string; message: string } } };
      expect(last_run.error.code).toBe('provider_error');
      expect(last_run.error.message).toMatch(why);
      expect(await talk.run('again')).toBe('completed');
    }
    expect(retriesOf(talk)).toEqual([]);
    expect(fake.refusals).toEqual([]);
  });

  test('a provider that falls silent is given up on and asked again', async () => {
    await using fake = await createFakeModel();
    await using daemon = await startWithModels(fake, { config: { limits: { model_retry_ms: 1, model_idle_seconds: 1 } } });
    const talk = await openTalk(daemon, undefined, { model: nameOf(api) });
    fake.script([{ text: 'half of ' }, { stall: true }], [{ stall: true }], [{ text: 'spoken' }]);
    expect(await talk.run('speak')).toBe('completed');
    expect(await talk.texts('assistant')).toEqual(['spoken']);
    expect(retriesOf(talk).map(({ message }) => message)).toEqual([
      expect.stringMatching(/has sent nothing for 1 s/),
      expect.stringMatching(/has sent nothing for 1 s/),
    ]);
    expect(await fake.asked[0]?.closed).toBe('left');
  });

  test('an abort while the next attempt is waited for ends the run, and the queue is told', async () => {
    await using fake = await createFakeModel();
    await using daemon = await startWithModels(fake, { config: { limits: { model_retry_ms: 60_000 } } });
    const talk = await openTalk(daemon, undefined, { model: nameOf(api) });
    fake.script(rateLimited(api, 30));
    const run = await talk.prompt('go');
    const told = await talk.until((event) => event.type === 'error' && event.payload.retry_in_ms !== undefined);
    expect(told.payload.retry_in_ms).toBeGreaterThanOrEqual(30_000);
    await talk.ok('follow_up', { text: 'later' });
    await talk.ok('abort');
    expect(await talk.ended(run)).toBe('aborted');
    expect(eventsOf(talk, 'queue_update').flatMap(({ payload }) => payload.dropped ?? [])).toMatchObject([{ text: 'later' }]);
    expect(await talk.run('go')).toBe('completed');
  });

  test('a conversation that does not fit any more is summarised and asked again, once', async () => {
    await using fake = await createFakeModel();
    await using daemon = await startWithModels(fake);
    const talk = await openTalk(daemon, undefined, { model: nameOf(api) });
    expect(await talk.run('one')).toBe('completed');
    fake.script(overflow(api), [{ text: 'a summary' }], [{ text: 'fits now' }]);
    expect(await talk.run('two')).toBe('completed');
    expect(await talk.texts('assistant')).toEqual(['ok', 'fits now']);
    expect(eventsOf(talk, 'compaction_end').map(({ payload }) => payload.trigger)).toEqual(['overflow']);
    fake.script(overflow(api), [{ text: 'another' }], overflow(api));
    expect(await talk.run('three')).toBe('failed');
    expect(await talk.run('four')).toBe('completed');
    expect(fake.refusals).toEqual([]);
  });

  test('steers and follow-ups during a summary are taken afterwards, each once', async () => {
    await using fake = await createFakeModel();
    await using daemon = await startWithModels(fake);
    const talk = await openTalk(daemon, undefined, { model: nameOf(api) });
    await talk.run('one');
    await talk.run('two');
    let go: (value: unknown) => void = () => undefined;
    fake.script([{ gate: new Promise((resolve) => (go = resolve)) }, { text: 'summary' }]);
    const summary = talk.ok('compact_session');
    await fake
      .next()
      .then(() => fake.next())
      .then(() => fake.next());
    const steer = await talk.ok('steer', { text: 'three' });
    await talk.ok('follow_up', { text: 'four' });
    go(undefined);
    await summary;
    expect(await talk.ended(steer.run_id)).toBe('completed');
    expect(await talk.texts('user')).toEqual(['one', 'two', 'three', 'four']);
    expect(fake.refusals).toEqual([]);
  });
});

test('a window that is known to fill is made room in before it overflows', async () => {
  await using fake = await createFakeModel();
  const small = { models: [{ id: 'llama', context_window: 8_000, max_output: 500 }], api_key: testKey };
  await using daemon = await startWithModels(fake, { config: { providers: providersAt(fake, small) } });
  const talk = await openTalk(daemon, undefined, { model: 'local/llama' });
  fake.answerWith(({ body }) => ({ steps: [{ text: JSON.stringify(body).includes('<record>') ? 'in short' : 'word '.repeat(400) }] }));
  for (let i = 0; i < 16; i++) expect(await talk.run(`${i} ${'long '.repeat(100)}`)).toBe('completed');
  const ends = eventsOf(talk, 'compaction_end');
  expect(ends.length).toBeGreaterThan(0);
  expect(ends.every(({ payload }) => payload.trigger === 'threshold' && payload.error === undefined)).toBe(true);
  for (const { body } of fake.asked) expect(JSON.stringify(body).length / 4).toBeLessThan(8_000);
  expect((await talk.state()).context_left_percent).toBeGreaterThan(0);
});

test('no key gets anywhere but to its provider, however it was given and whatever is answered', async () => {
  await using fake = await createFakeModel();
  const secrets = {
    config: 'canary-config-0001-abcdef',
    header: 'canary-header-0002-abcdef',
    variable: 'canary-variable-0003-abcdef',
    kept: 'canary-kept-0004-abcdef',
    printed: 'canary-printed-0005-abcdef',
  };
  const base = { api: 'openai-chat', base_url: fake.baseUrl('openai-chat') };
  const providers = {
    config: { ...base, api_key: secrets.config, headers: { 'x-team-token': secrets.header } },
    variable: { ...base, api_key_env: 'CANARY_API_KEY' },
    kept: base,
    printed: { ...base, api_key_command: ['printf', '%s\n', secrets.printed] },
  };
  await using daemon = await startWithModels(fake, {
    config: { providers },
    env: { CANARY_API_KEY: secrets.variable, BERTH_LOG_LEVEL: 'trace' },
  });
  await setKey(daemon.paths.configDir, 'kept', secrets.kept);
  fake.answerWith(({ headers }) => ({
    status: 401,
    body: { error: { message: `what is ${JSON.stringify(headers)}?`, type: 'x', code: 'y' } },
  }));
  const lines: RawLine[] = [];
  for (const name of Object.keys(providers)) {
    const talk = await openTalk(daemon, undefined, { model: `${name}/m` });
    expect(await talk.run('hi')).toBe('failed');
    lines.push(...talk.events.lines, ...talk.commands.lines, await talk.commands.call('get_state', { session_id: talk.session }));
  }
  const client = await daemon.raw();
  for (const command of ['get_daemon', 'list_models', 'list_sessions']) lines.push(await client.call(command));
  const sent = fake.asked.map(({ headers }) => headers.authorization);
  expect(new Set(sent)).toEqual(new Set([secrets.config, secrets.variable, secrets.kept, secrets.printed].map((key) => `Bearer ${key}`)));
  await daemon.terminate();
  const files = readdirSync(daemon.paths.stateDir).map((file) => join(daemon.paths.stateDir, file));
  const seen = [JSON.stringify(lines), ...files.filter((file) => statSync(file).isFile()).map((file) => readFileSync(file, 'latin1'))];
  for (const secret of Object.values(secrets)) expect(seen.filter((text) => text.includes(secret))).toEqual([]);
});

test('a config that is read again counts from the next request on', async () => {
  await using fake = await createFakeModel();
  await using daemon = await startWithModels(fake);
  const talk = await openTalk(daemon, undefined, { model: 'local/llama' });
  expect(await talk.refused('set_model', { model: 'later/m' })).toBe('invalid_payload');
  const later = { providers: { later: { api: 'openai-chat', base_url: fake.baseUrl('openai-chat'), api_key: 'another' } } };
  writeFileSync(join(daemon.paths.configDir, 'config.json'), JSON.stringify(later));
  process.kill(daemon.pid(), 'SIGHUP');
  for (let known = false; !known;) {
    known = JSON.stringify((await talk.commands.call('list_models')).payload.providers).includes('later');
  }
  await talk.ok('set_model', { model: 'later/m' });
  expect(await talk.run('hi')).toBe('completed');
  expect(fake.asked.at(-1)?.headers.authorization).toBe('Bearer another');
});
