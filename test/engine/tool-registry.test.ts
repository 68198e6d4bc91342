import { describe, expect, test } from 'vitest';
import type { ToolRegistration } from '../../src/engine/calls/tool-registry.js';
import { limits } from '../../src/protocol/limits.js';
import { textOf } from '../../src/protocol/content.js';
import { loadSqlite } from '../../src/store/sqlite.js';
import type { ModelRequest } from '../../src/providers/port.js';
import { toolText, type Tool } from '../../src/tools/port.js';
import { createTestEngine, type TestEngine } from '../support/engine.js';
import { foreignTool } from '../support/foreign-tool.js';
import { createGate } from '../support/gate-tool.js';

function add({ engine }: TestEngine, tool: Tool): ToolRegistration {
  const added = engine.tools.add(tool);
  if (!added.ok) throw new Error(added.refusal.message);
  return added.value;
}

function refusal({ engine }: TestEngine, tool: Tool): string | undefined {
  const added = engine.tools.add(tool);
  return added.ok ? undefined : added.refusal.reason;
}

function namesIn({ tools }: ModelRequest): string[] {
  return tools.map(({ name }) => name);
}

function resultsIn({ messages }: ModelRequest): string[] {
  return messages.filter(({ role }) => role === 'tool_result').map(({ content }) => textOf(content));
}

describe('the tools that a model is told of', () => {
  test('are those that there are at each request', async () => {
    const gate = createGate();
    await using berth = createTestEngine({ tools: [gate.tool] });
    const session = berth.session();
    berth.prompt(session);
    const first = await berth.model.next();
    expect(namesIn(first.request)).toEqual(['gate']);
    const added = add(berth, foreignTool());
    first.call('weather', { city: 'Oslo' }).end();
    const second = await berth.model.next();
    expect(second.request.tools[1]).toEqual({
      name: 'weather',
      description: 'Says what the weather is like in a city.',
      parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    });
    expect(resultsIn(second.request)).toEqual(['It rains in Oslo.']);
    expect(added.change(foreignTool({ description: 'Better.' })).ok).toBe(true);
    second.call('weather', { city: 'Rome' }).end();
    const third = await berth.model.next();
    expect(third.request.tools.map(({ description }) => description)).toEqual(['gate', 'Better.']);
    added.remove();
    third.call('weather', { city: 'Rome' }).end();
    const fourth = await berth.model.next();
    expect(namesIn(fourth.request)).toEqual(['gate']);
    expect(resultsIn(fourth.request).at(-1)).toBe('There is no tool named "weather".');
    fourth.say('ok').end();
    await berth.idle(session);
  });

  test('include an added one only where the session has it active', async () => {
    await using berth = createTestEngine({ tools: [createGate().tool] });
    add(berth, foreignTool());
    const session = berth.session({ active_tools: ['gate'] });
    berth.prompt(session);
    const { request, say } = await berth.model.next();
    expect(namesIn(request)).toEqual(['gate']);
    say('ok').end();
    await berth.idle(session);
  });
});

test('arguments that do not fit an added tool are told by their field, and the tool does not run', async () => {
  await using berth = createTestEngine();
  add(berth, foreignTool({ run: () => Promise.reject(new Error('it ran')) }));
  const session = berth.session();
  berth.prompt(session);
  (await berth.model.next()).call('weather', { city: 5 }).end();
  const next = await berth.model.next();
  expect(resultsIn(next.request)).toEqual(['The arguments do not fit weather: city: must be a string']);
  next.say('ok').end();
  await berth.idle(session);
});

describe('a tool is not added', () => {
  test('under the name of another, which stays as it was', async () => {
    const gate = createGate();
    await using berth = createTestEngine({ tools: [gate.tool] });
    add(berth, foreignTool());
    expect(refusal(berth, foreignTool({ name: 'gate' }))).toBe('name_taken');
    expect(refusal(berth, foreignTool({ description: 'Another.' }))).toBe('name_taken');
    expect(berth.engine.tools.list().map(({ description }) => description)).toEqual(['gate', 'Says what the weather is like in a city.']);
  });

  test.each(['', '*', 'a b', 'ä', 'docs.search', 'x'.repeat(65)])('under a name that models cannot call: %j', async (name) => {
    await using berth = createTestEngine();
    expect(refusal(berth, foreignTool({ name }))).toBe('invalid_name');
  });

  test('when it says too much, or when there are too many', async () => {
    await using berth = createTestEngine();
    expect(refusal(berth, foreignTool({ description: 'x'.repeat(limits.toolSpecBytesMax) }))).toBe('too_large');
    for (let i = 0; i < limits.toolsMax; i++) add(berth, foreignTool({ name: `weather_${i}` }));
    expect(refusal(berth, foreignTool())).toBe('too_many');
  });
});

test('each change is told in the log as an event of no session', async () => {
  await using berth = createTestEngine();
  const added = add(berth, foreignTool());
  added.change(foreignTool({ description: 'Better.' }));
  added.remove();
  added.remove();
  const told = [...berth.store.log.replay('')].filter(({ type }) => type === 'tools_update').map(({ payload }) => payload);
  expect(told).toEqual(['added', 'changed', 'removed'].map((op) => ({ session_id: '', op, tool_name: 'weather' })));
});

test('changes that the store does not take now are told when it does: of each tool the newest', async () => {
  await using berth = createTestEngine();
  const theirs = new (loadSqlite())(berth.dbPath);
  theirs.exec('BEGIN IMMEDIATE');
  const added = add(berth, foreignTool());
  add(berth, foreignTool({ name: 'other' }));
  added.change(foreignTool({ description: 'Better.' }));
  const ops = (): unknown[] =>
    [...berth.store.log.replay('')].flatMap(({ type, payload }) => (type === 'tools_update' ? [[payload.op, payload.tool_name]] : []));
  expect(ops()).toEqual([]);
  theirs.exec('ROLLBACK');
  theirs.close();
  await berth.until('', () => (ops().length === 3 ? true : undefined));
  // The first was on its way when it changed.
  expect(ops()).toEqual([
    ['added', 'weather'],
    ['added', 'other'],
    ['changed', 'weather'],
  ]);
});

test('a tool may still be removed when the engine is closed', async () => {
  await using berth = createTestEngine();
  const added = add(berth, foreignTool());
  berth.engine.close();
  added.remove();
  expect(berth.engine.tools.list()).toEqual([]);
});

test('whoever removed a tool cannot change or remove the one that has its name now', async () => {
  await using berth = createTestEngine();
  const first = add(berth, foreignTool());
  expect(first.change(foreignTool({ name: 'other' }))).toMatchObject({ ok: false, refusal: { reason: 'invalid_name' } });
  first.remove();
  add(berth, foreignTool({ description: 'The second.' }));
  first.remove();
  expect(first.change(foreignTool())).toMatchObject({ ok: false, refusal: { reason: 'removed' } });
  expect(berth.engine.tools.list()).toMatchObject([{ description: 'The second.' }]);
});

describe('when a tool is removed', () => {
  test('a call of it that runs is told to stop, and ends with an error at once', async () => {
    const gate = createGate('remote', { deaf: true });
    await using berth = createTestEngine();
    let stopped = false;
    const run: Tool['run'] = (args, context) => {
      context.signal.addEventListener('abort', () => (stopped = true));
      return gate.tool.run(args, context);
    };
    const added = add(berth, { ...gate.tool, run });
    const session = berth.session();
    berth.prompt(session);
    (await berth.model.next()).call('remote', { key: 'a' }).end();
    await gate.arrive(1);
    added.remove();
    const next = await berth.model.next();
    expect(stopped).toBe(true);
    expect(resultsIn(next.request)).toEqual(['The tool remote was removed while this call ran. What it did until then is not known.']);
    next.say('ok').end();
    await berth.idle(session);
    expect(berth.events(session).at(-1)).toMatchObject({ type: 'agent_end', payload: { outcome: 'completed' } });
  });

  test('also when it was changed since the call began', async () => {
    const gate = createGate('remote', { deaf: true });
    await using berth = createTestEngine();
    const added = add(berth, gate.tool);
    const session = berth.session();
    berth.prompt(session);
    (await berth.model.next()).call('remote', { key: 'a' }).call('remote', { key: 'b' }).end();
    await gate.arrive(1);
    added.change(createGate('remote').tool);
    added.remove();
    const next = await berth.model.next();
    expect(resultsIn(next.request)).toEqual([expect.stringMatching(/removed while this call ran/), 'There is no tool named "remote".']);
    next.say('ok').end();
    await berth.idle(session);
  });

  test('a call of it that waits for a person ends, and its request is resolved', async () => {
    const gate = createGate('remote', { approval: true });
    await using berth = createTestEngine();
    const added = add(berth, gate.tool);
    const session = berth.session();
    berth.prompt(session);
    (await berth.model.next()).call('remote', { key: 'a' }).end();
    const request = await berth.asked(session);
    added.remove();
    const next = await berth.model.next();
    expect(resultsIn(next.request)).toEqual(['Not run: the tool remote was removed before this call began.']);
    expect(berth.store.requests.open(session)).toEqual([]);
    expect(berth.answer(request, { result: 'allow_once' }).ok).toBe(false);
    next.say('ok').end();
    await berth.idle(session);
    expect(gate.begun()).toEqual([]);
  });

  test('a call of it that is being prepared ends', async () => {
    await using berth = createTestEngine();
    let begun = (): void => undefined;
    const preparing = new Promise<void>((resolve) => (begun = resolve));
    const added = add(
      berth,
      foreignTool({
        prepare() {
          begun();
          return new Promise(() => undefined);
        },
      }),
    );
    const session = berth.session();
    berth.prompt(session);
    (await berth.model.next()).call('weather', { city: 'Oslo' }).end();
    await preparing;
    added.remove();
    const next = await berth.model.next();
    expect(resultsIn(next.request)).toEqual(['Not run: the tool weather was removed before this call began.']);
    next.say('ok').end();
    await berth.idle(session);
  });
});

describe('when a tool is changed', () => {
  test('a call of it that runs goes on', async () => {
    const gate = createGate('remote');
    await using berth = createTestEngine();
    const added = add(berth, gate.tool);
    const session = berth.session();
    berth.prompt(session);
    (await berth.model.next()).call('remote', { key: 'a' }).end();
    await gate.arrive(1);
    added.change(createGate('remote').tool);
    gate.open('a');
    const next = await berth.model.next();
    expect(resultsIn(next.request)).toEqual(['remote a']);
    next.say('ok').end();
    await berth.idle(session);
  });

  test('a call that waits for a person runs with the new version, and the person is not asked twice', async () => {
    const old = createGate('remote', { approval: true });
    await using berth = createTestEngine();
    const added = add(berth, old.tool);
    const session = berth.session();
    berth.prompt(session);
    (await berth.model.next()).call('remote', { key: 'a' }).end();
    const request = await berth.asked(session);
    added.change({ ...old.tool, run: () => Promise.resolve(toolText('the new version')) });
    await berth.otherRun();
    expect(await berth.asked(session)).toBe(request);
    expect(berth.answer(request, { result: 'allow_once' }).ok).toBe(true);
    const next = await berth.model.next();
    expect(resultsIn(next.request)).toEqual(['the new version']);
    next.say('ok').end();
    await berth.idle(session);
    expect(old.begun()).toEqual([]);
  });
});
