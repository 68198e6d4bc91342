import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { expect, test } from 'vitest';
import { rawAsk } from './raw-ask.js';
import type { Api } from './reply.js';
import { createFakeModel, type FakeModel } from './server.js';
import type { Json } from './shape.js';

const apis: Api[] = ['anthropic', 'openai-responses', 'openai-chat'];
const messages = [{ role: 'user', content: 'hello' }];
const bodies: Record<Api, object> = {
  anthropic: { model: 'm', max_tokens: 100, stream: true, messages },
  'openai-responses': { model: 'm', stream: true, input: messages },
  'openai-chat': { model: 'm', stream: true, messages },
};

function clients(model: FakeModel): { anthropic: Anthropic; openai: OpenAI } {
  return {
    anthropic: new Anthropic({ apiKey: 'key', baseURL: model.baseUrl('anthropic'), maxRetries: 0 }),
    openai: new OpenAI({ apiKey: 'key', baseURL: model.baseUrl('openai-chat'), maxRetries: 0 }),
  };
}

test.each(apis)('%s: replies are given in the order of the script, then as the test answers', async (api) => {
  await using model = await createFakeModel();
  model.script([{ text: 'first' }], [{ text: 'second' }]);
  model.answerWith(async ({ text }) => [{ text: `you said ${text}` }]);
  expect((await rawAsk(model, api, bodies[api])).text).toContain('first');
  expect((await rawAsk(model, api, { ...bodies[api], wrong: 1 })).status).toBe(400);
  expect((await rawAsk(model, api, bodies[api])).text).toContain('second');
  expect((await rawAsk(model, api, bodies[api])).text).toContain('hello');
  expect(model.asked.map(({ refusal }) => refusal === undefined)).toEqual([true, false, true, true]);
  expect(model.refusals).toHaveLength(1);
});

test.each(apis)('%s: usage is about a quarter of the characters, when it is not given', async (api) => {
  await using model = await createFakeModel();
  model.script([{ text: 'x'.repeat(400) }]);
  const body = { ...bodies[api], ...(api === 'openai-chat' ? { stream_options: { include_usage: true } } : {}) };
  const { text } = await rawAsk(model, api, body);
  const tokens = Math.ceil(JSON.stringify(body).length / 4);
  expect(text).toMatch(new RegExp(`"(input|prompt)_tokens":${tokens},`));
  expect(text).toMatch(/"(output|completion)_tokens":100,/);
});

test('nothing is sent before a gate opens, and what came before it is', async () => {
  await using model = await createFakeModel();
  let openFirst = (): void => undefined;
  let openSecond = (): void => undefined;
  const first = new Promise<void>((resolve) => (openFirst = resolve));
  const second = new Promise<void>((resolve) => (openSecond = resolve));
  model.script([{ gate: first }, { text: 'a' }, { gate: second }, { text: 'b' }]);
  let answered = false;
  const asking = clients(model).openai.chat.completions.create({
    model: 'm',
    messages: [{ role: 'user', content: 'hello' }],
    stream: true,
  });
  void asking.then(() => (answered = true));
  await model.next();
  expect(answered).toBe(false);
  openFirst();
  const texts: unknown[] = [];
  for await (const { choices } of await asking) {
    const content = choices[0]?.delta.content;
    if (content) texts.push(content);
    if (content === 'a') openSecond();
  }
  expect(texts).toEqual(['a', 'b']);
});

test('a peer that leaves while the answer is not known is noticed', async () => {
  await using model = await createFakeModel();
  model.answerWith(() => new Promise(() => undefined));
  const leave = new AbortController();
  const asking = fetch(`${model.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: 'Bearer key' },
    body: JSON.stringify(bodies['openai-chat']),
    signal: leave.signal,
  });
  const asked = await model.next();
  leave.abort();
  await expect(asking).rejects.toThrow('aborted');
  expect(await asked.closed).toBe('left');
});

test('disposal ends whatever is open', async () => {
  const model = await createFakeModel();
  model.script([{ text: 'a' }, { stall: true }], [{ gate: new Promise(() => undefined) }]);
  const both = [rawAsk(model, 'anthropic', bodies.anthropic), rawAsk(model, 'openai-chat', bodies['openai-chat'])];
  const ended = Promise.allSettled(both);
  const asked = [await model.next(), await model.next()];
  await model[Symbol.asyncDispose]();
  expect((await ended).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await Promise.all(asked.map(({ closed }) => closed))).toEqual(['left', 'left']);
});

test.each(apis)('%s: a key is needed, and one that is unknown is refused as by the provider', async (api) => {
  await using model = await createFakeModel();
  expect((await rawAsk(model, api, bodies[api], { authorization: '' })).status).toBe(401);
  expect(model.refusals).toHaveLength(1);
  model.keys = new Set(['good']);
  const { status, text } = await rawAsk(model, api, bodies[api]);
  expect({ status, isError: text.includes('"error"') }).toEqual({ status: 401, isError: true });
  expect((await rawAsk(model, api, bodies[api], { authorization: 'Bearer good' })).status).toBe(200);
  expect(model.refusals).toHaveLength(1);
});

test('Anthropic prefers the key in its own header', async () => {
  await using model = await createFakeModel();
  model.keys = new Set(['good']);
  expect((await rawAsk(model, 'anthropic', bodies.anthropic, { 'x-api-key': 'good' })).status).toBe(200);
});

test.each(apis)('%s: what is longer than the context is refused as by the provider', async (api) => {
  await using model = await createFakeModel();
  model.contextTokens = 10;
  const { status, message } = await rawAsk(model, api, bodies[api]);
  expect(status).toBe(400);
  expect(message).toMatch(/too long|context/);
  expect(model.refusals).toEqual([]);
});

test.each(apis)('%s: what is not JSON, not UTF-8 or has half of a pair is refused', async (api) => {
  await using model = await createFakeModel();
  expect((await rawAsk(model, api, '{"model":')).status).toBe(400);
  expect((await rawAsk(model, api, Buffer.from(JSON.stringify(bodies[api]).replace('hello', 'é'), 'latin1'))).status).toBe(400);
  expect((await rawAsk(model, api, JSON.stringify(bodies[api]).replace('hello', '\\ud83d'))).message).toContain('lone surrogate');
  expect((await rawAsk(model, api, JSON.stringify(bodies[api]).replace('hello', '\\ud83d\\ude00'))).status).toBe(200);
  expect(model.refusals).toHaveLength(3);
});

test('fields of servers that only resemble the real one can be allowed', async () => {
  await using model = await createFakeModel();
  const body = { ...bodies['openai-chat'], thinking: { type: 'enabled' } };
  expect((await rawAsk(model, 'openai-chat', body)).message).toBe(`Unknown parameter: 'thinking'.`);
  model.extraFields.add('thinking');
  expect((await rawAsk(model, 'openai-chat', body)).status).toBe(200);
  expect(model.asked[1]!.body.thinking).toEqual({ type: 'enabled' });
});

test('models are listed in the form of each API, Anthropic in pages', async () => {
  await using model = await createFakeModel();
  const { anthropic, openai } = clients(model);
  model.models = Array.from({ length: 25 }, (_, i) => ({
    id: `m${i}`,
    name: `Model ${i}`,
    maxInput: 1000 + i,
    extra: { context_length: 7 },
  }));
  const fromAnthropic: Json[] = [];
  for await (const entry of anthropic.models.list()) fromAnthropic.push(entry);
  expect(fromAnthropic).toHaveLength(25);
  expect(fromAnthropic[24]).toMatchObject({
    type: 'model',
    id: 'm24',
    display_name: 'Model 24',
    max_input_tokens: 1024,
    max_tokens: 64_000,
  });
  expect(model.listings).toHaveLength(2);
  const fromOpenai: Json[] = [];
  for await (const entry of openai.models.list()) fromOpenai.push(entry);
  expect(fromOpenai[3]).toMatchObject({ id: 'm3', object: 'model', owned_by: 'fake', context_length: 7 });
  model.models = { status: 500 };
  await expect(anthropic.models.list()).rejects.toMatchObject({ status: 500, type: 'api_error' });
  await expect(openai.models.list()).rejects.toMatchObject({ status: 500, type: 'server_error' });
  model.models = 'reset';
  await expect(openai.models.list()).rejects.toBeInstanceOf(OpenAI.APIConnectionError);
});

test('there is nothing at other addresses', async () => {
  await using model = await createFakeModel();
  expect((await fetch(`${model.url}/v1/nothing`)).status).toBe(404);
  expect(model.refusals).toEqual(['no such route: GET /v1/nothing']);
});

test('a fake model of its own process answers by name, tells when it wrote what, and ends when told', async () => {
  const child = spawn(process.execPath, ['--import', 'tsx', fileURLToPath(new URL('./main.ts', import.meta.url))], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'close');
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const { port, pid } = JSON.parse(line);
  expect(pid).toBe(child.pid);
  const openai = new OpenAI({ apiKey: 'key', baseURL: `http://127.0.0.1:${port}/v1`, maxRetries: 0 });
  for (const name of ['fake-2000x12', 'fake-3x5-d1']) {
    const texts: string[] = [];
    const stream = await openai.chat.completions.create({ model: name, messages: [{ role: 'user', content: 'hello' }], stream: true });
    for await (const { choices } of stream) texts.push(choices[0]?.delta.content ?? '');
    const [, deltas, characters] = /(\d+)x(\d+)/.exec(name)!.map(Number);
    expect(texts.filter(({ length }) => length === characters)).toHaveLength(deltas!);
    const { stamps } = (await (await fetch(`http://127.0.0.1:${port}/__stamps`)).json()) as { stamps: number[] };
    expect(stamps).toHaveLength(deltas!);
    expect(stamps).toEqual(stamps.toSorted((a, b) => a - b));
    if (name.endsWith('d1')) expect(new Set(stamps).size).toBe(deltas);
  }
  child.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
});
