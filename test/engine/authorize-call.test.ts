import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { createPolicy } from '../../src/policy/judge.js';
import type { Rule, WorkspaceConfig } from '../../src/policy/port.js';
import type { UiRequest } from '../../src/protocol/requests/requests.js';
import { loadSqlite } from '../../src/store/sqlite.js';
import { createEditTool } from '../../src/tools/files/edit.js';
import { toolText, type Effect, type Tool } from '../../src/tools/port.js';
import { createReadMarks } from '../../src/tools/files/read-marks.js';
import { createReadTool } from '../../src/tools/files/read.js';
import { createWriteTool } from '../../src/tools/files/write.js';
import { createTestEngine, type EngineSetup, type TestEngine } from '../support/engine.js';
import { foreignTool } from '../support/foreign-tool.js';
import { makeTempDir } from '../support/temp-dir.js';
import { approvalOf } from '../support/requests.js';
import { zodParameters } from '../../src/tools/zod-parameters.js';

interface Desk extends AsyncDisposable {
  berth: TestEngine;
  session: string;
  setup: EngineSetup;
  path(name: string): string;
  /** Lets the model make one call in a run of its own. */
  call(name: string, args: unknown, session?: string): Promise<void>;
  /** The approval that the session waits for. */
  approval(session?: string): Promise<UiRequest>;
  answer(request: UiRequest, result: unknown): void;
  /** Ends the run and says what the model was told. */
  told(session?: string): Promise<string>;
}

interface DeskSetup {
  rules?: Rule[];
  config?: WorkspaceConfig;
  timeoutMs?: number;
  attended?: () => boolean;
  runsAtOnceMax?: number;
  more?: Tool[];
}

/** An engine with real file tools and a real policy, in a workspace of its own. */
function createDesk({ rules = [], config, timeoutMs, attended, runsAtOnceMax = 8, more = [] }: DeskSetup = {}): Desk {
  const dir = makeTempDir();
  const cwd = dir.file('home/work');
  mkdirSync(cwd, { recursive: true });
  writeFileSync(join(cwd, 'a.txt'), 'one\n');
  const marks = createReadMarks();
  const deps = { marks };
  const tools = [createReadTool({ marks }), createWriteTool(deps), createEditTool(deps), ...more] as Tool[];
  const policy = createPolicy({
    home: dir.file('home'),
    umask: 0o022,
    settings: () => ({ noSandbox: undefined, network: false, writable: [], own: [] }),
  });
  const setup: EngineSetup = {
    tools,
    runsAtOnceMax,
    ...(attended ? { attended } : {}),
    hands: {
      loadPolicy: () => Promise.resolve(policy),
      ruleSources: { configured: () => rules, inWorkspace: () => config },
      approvalTimeoutMs: () => timeoutMs ?? null,
    },
  };
  const berth = createTestEngine(setup);
  const session = berth.session({ cwd });
  return {
    berth,
    session,
    setup,
    path: (name) => join(cwd, name),
    async call(name, args, of = session) {
      berth.prompt(of);
      (await berth.model.next()).call(name, args, 'c1').end();
    },
    approval: (of = session) => berth.until(of, () => berth.store.requests.open(of)[0]),
    answer(request, result) {
      expect(berth.answer(request.request_id, { result }).ok).toBe(true);
    },
    async told(of = session) {
      const next = await berth.model.next();
      next.say('ok').end();
      await berth.idle(of);
      const results = next.request.messages.filter(({ role }) => role === 'tool_result');
      return (
        results
          .at(-1)
          ?.content.map((block) => (block.type === 'text' ? block.text : ''))
          .join('') ?? ''
      );
    },
    async [Symbol.asyncDispose]() {
      await berth[Symbol.asyncDispose]();
      dir[Symbol.dispose]();
    },
  };
}

const write = (path: string, content = 'new\n') => ({ path, content });

function decisions(berth: TestEngine): string[] {
  return berth.store.audit.page(undefined, undefined, 100).map(({ view }) => `${view.action} ${view.tool_name} by ${view.by}: ${view.why}`);
}

test('an edit of a file that may not be read says the same whether the old text is in it or not', async () => {
  await using desk = createDesk({ rules: [{ tool: 'read', path: 'a.txt', action: 'deny' }] });
  const told: string[] = [];
  for (const old_text of ['one', 'two']) {
    await desk.call('edit', { path: 'a.txt', old_text, new_text: 'x' });
    told.push(await desk.told());
  }
  expect(told[0]).toMatch(/^Not allowed: /);
  expect(told[1]).toBe(told[0]);
});

test('an edit of a file that was not read fails without asking anybody when its old text is not there', async () => {
  await using desk = createDesk();
  await desk.call('edit', { path: 'a.txt', old_text: 'two', new_text: 'x' });
  expect(await desk.told()).toContain('old_text was not found');
  await desk.call('edit', { path: 'a.txt', old_text: 'one', new_text: 'x' });
  const request = await desk.approval();
  expect(approvalOf(request).diff).toContain('-one');
  desk.answer(request, 'allow_once');
  await desk.told();
  expect(readFileSync(desk.path('a.txt'), 'utf8')).toBe('x\n');
});

describe('an approval', () => {
  test('shows who asks, the path, the diff and what “always” would mean, and nothing happens before the answer', async () => {
    await using desk = createDesk();
    await desk.call('write', write('b.txt'));
    const request = await desk.approval();
    expect(request.params).toMatchObject({
      kind: 'approval',
      tool_name: 'write',
      diff: expect.stringContaining('+new'),
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
      asked_by: { session_id: desk.session },
      rules: [{ tool: 'write', path: desk.path('b.txt'), action: 'allow' }],
    });
    expect(approvalOf(request).options.map(({ value, key }) => `${key} ${value}`)).toEqual([
      'a allow_once',
      's allow_session',
      'w allow_always',
      'd deny',
    ]);
    expect(existsSync(desk.path('b.txt'))).toBe(false);
    desk.answer(request, 'allow_once');
    await desk.told();
    expect(readFileSync(desk.path('b.txt'), 'utf8')).toBe('new\n');
  });

  test('of once is asked again the next time', async () => {
    await using desk = createDesk();
    await desk.call('write', write('b.txt'));
    desk.answer(await desk.approval(), 'allow_once');
    await desk.told();
    await desk.call('write', write('b.txt', 'more\n'));
    desk.answer(await desk.approval(), { value: 'deny', reason: 'enough' });
    expect(await desk.told()).toBe('Denied: enough');
    expect(readFileSync(desk.path('b.txt'), 'utf8')).toBe('new\n');
  });

  test('of a session is not asked there again, and is asked in another', async () => {
    await using desk = createDesk();
    await desk.call('write', write('b.txt'));
    desk.answer(await desk.approval(), 'allow_session');
    await desk.told();
    await desk.call('write', write('b.txt', 'more\n'));
    await desk.told();
    expect(readFileSync(desk.path('b.txt'), 'utf8')).toBe('more\n');
    const other = desk.berth.session({ cwd: desk.path('.') });
    await desk.call('read', { path: 'b.txt' }, other);
    await desk.told(other);
    await desk.call('write', write('b.txt', 'other\n'), other);
    desk.answer(await desk.approval(other), { value: 'deny', reason: 'no' });
    await desk.told(other);
  });

  test('of always holds in other sessions of the workspace, after a restart, and for the one file', async () => {
    await using desk = createDesk();
    await desk.call('write', write('b.txt'));
    desk.answer(await desk.approval(), 'allow_always');
    await desk.told();
    await using next = desk.berth.crash(desk.setup);
    const session = next.session({ cwd: desk.path('.') });
    for (const [path, asked] of [
      ['b.txt', false],
      ['c.txt', true],
    ] as const) {
      next.prompt(session);
      (await next.model.next()).call('read', { path }, 'r').call('write', write(path, 'again\n'), 'w').end();
      if (asked) expect(next.answer(await next.asked(session), { result: { value: 'deny', reason: 'no' } }).ok).toBe(true);
      (await next.model.next()).say('ok').end();
      await next.idle(session);
    }
    expect(readFileSync(desk.path('b.txt'), 'utf8')).toBe('again\n');
    expect(existsSync(desk.path('c.txt'))).toBe(false);
    expect(existsSync(desk.path('.berth'))).toBe(false);
  });

  test('of a file that runs code later can be given once only', async () => {
    await using desk = createDesk({ rules: [{ tool: '*', action: 'allow' }] });
    desk.berth.change(desk.session, { approval_mode: 'full' });
    await desk.call('write', write('.envrc'));
    const request = await desk.approval();
    expect(approvalOf(request).options.map(({ value }) => value)).toEqual(['allow_once', 'deny']);
    expect(desk.berth.answer(request.request_id, { result: 'allow_always' }).ok).toBe(false);
    desk.answer(request, 'allow_once');
    await desk.told();
    expect(existsSync(desk.path('.envrc'))).toBe(true);
  });

  test('makes everything in the text visible', async () => {
    await using desk = createDesk();
    await desk.call('write', write('b\u202etxt.exe', 'x\u001b[2J\u200by\n'));
    const request = await desk.approval();
    const { args: _asTheModelWroteThem, remember: _rules, rules: _same, ...shown } = approvalOf(request);
    expect(JSON.stringify(shown)).not.toMatch(/\\u001b|[\u202e\u200b]/);
    expect(shown.diff).toContain(String.raw`x\x1b[2J\u{200b}y`);
  });

  test('holds for what was shown: a file that changed meanwhile is asked about again', async () => {
    await using desk = createDesk();
    await desk.call('read', { path: 'a.txt' });
    await desk.told();
    await desk.call('edit', { path: 'a.txt', edits: [{ old_text: 'one', new_text: 'two' }] });
    const request = await desk.approval();
    writeFileSync(desk.path('a.txt'), 'one and more\n');
    desk.answer(request, 'allow_once');
    expect(await desk.told()).toMatch(/changed/i);
    expect(readFileSync(desk.path('a.txt'), 'utf8')).toBe('one and more\n');
  });

  test('does not outlive a rule that denies it', async () => {
    const rules: Rule[] = [];
    await using desk = createDesk({ rules });
    await desk.call('write', write('b.txt'));
    const request = await desk.approval();
    rules.push({ tool: 'write', path: 'b.txt', action: 'deny' });
    desk.answer(request, 'allow_once');
    expect(await desk.told()).toMatch(/^Not allowed: /);
    expect(existsSync(desk.path('b.txt'))).toBe(false);
  });

  test.each(['allow_once', 'allow_session', 'allow_always'])('does not outlive a change to read_only: %s', async (answer) => {
    await using desk = createDesk();
    await desk.call('write', write('b.txt'));
    const request = await desk.approval();
    desk.berth.change(desk.session, { approval_mode: 'read_only' });
    desk.answer(request, answer);
    expect(await desk.told()).toMatch(/^Not allowed: .*read_only/);
    expect(existsSync(desk.path('b.txt'))).toBe(false);
  });

  test('that nobody answers in time is a denial that the model is told', async () => {
    await using desk = createDesk({ timeoutMs: 10 });
    await desk.call('write', write('b.txt'));
    await desk.approval();
    desk.berth.clock.nowMs += 10;
    expect(await desk.told()).toContain('nobody answered in time');
    expect(existsSync(desk.path('b.txt'))).toBe(false);
  });

  test('waits across a restart under the same request, and what was answered before is not asked twice', async () => {
    await using desk = createDesk();
    await desk.call('write', write('b.txt'));
    const request = await desk.approval();
    await using next = desk.berth.crash(desk.setup);
    next.engine.recover();
    expect(next.store.requests.open(desk.session).map(({ request_id }) => request_id)).toEqual([request.request_id]);
    expect(next.answer(request.request_id, { result: 'allow_once' }).ok).toBe(true);
    (await next.model.next()).say('ok').end();
    await next.idle(desk.session);
    expect(readFileSync(desk.path('b.txt'), 'utf8')).toBe('new\n');
    expect(next.events(desk.session).filter(({ type }) => type === 'ui_request')).toHaveLength(1);
  });

  test('holds for the file that was shown: a link that leads elsewhere by then is asked about again', async () => {
    await using desk = createDesk();
    const [one, other] = [desk.path('../one'), desk.path('../other')];
    writeFileSync(one, 'first\n');
    writeFileSync(other, 'second\n');
    symlinkSync(one, desk.path('link'));
    await desk.call('read', { path: 'link' });
    const shown = await desk.approval();
    expect(shown.params.message).toContain(join(dirname(one), 'one'));
    rmSync(desk.path('link'));
    symlinkSync(other, desk.path('link'));
    desk.answer(shown, 'allow_once');
    const again = await desk.approval();
    expect(again.params.message).toContain(join(dirname(other), 'other'));
    desk.answer(again, { value: 'deny', reason: 'not that one' });
    expect(await desk.told()).toBe('Denied: not that one');
  });

  test('with nobody attached is denied where the session says so, never allowed', async () => {
    await using desk = createDesk({ attended: () => false });
    desk.berth.change(desk.session, { when_detached: 'deny' });
    await desk.call('write', write('b.txt'));
    expect(await desk.told()).toContain('nobody was there');
    expect(existsSync(desk.path('b.txt'))).toBe(false);
    expect(decisions(desk.berth)[0]).toMatch(/^deny write by policy/);
  });

  test('is resolved by an abort, and an answer after that does nothing', async () => {
    await using desk = createDesk();
    await desk.call('write', write('b.txt'));
    const request = await desk.approval();
    desk.berth.abort(desk.session);
    await desk.berth.idle(desk.session);
    expect(desk.berth.answer(request.request_id, { result: 'allow_once' })).toMatchObject({ ok: false });
    expect(existsSync(desk.path('b.txt'))).toBe(false);
  });
});

describe('an open approval', () => {
  const resolved = (desk: Desk, session = desk.session) =>
    desk.berth.events(session).flatMap((event) => (event.type === 'ui_resolved' ? [event.payload] : []));

  test('is released by a mode that allows the call', async () => {
    await using desk = createDesk();
    await desk.call('write', write('b.txt'));
    const { request_id } = await desk.approval();
    desk.berth.change(desk.session, { approval_mode: 'auto_edit' });
    await desk.told();
    expect(readFileSync(desk.path('b.txt'), 'utf8')).toBe('new\n');
    expect(resolved(desk)).toMatchObject([{ request_id, by: 'mode', outcome: 'answered', result: 'allow_once' }]);
    expect(decisions(desk.berth)).toEqual(['allow write by policy: it is in the workspace, and the mode is auto_edit']);
    expect(desk.berth.answer(request_id, { result: 'deny' }).ok).toBe(false);
  });

  test('is denied by a mode that denies the call, and everybody is told why', async () => {
    await using desk = createDesk();
    await desk.call('write', write('b.txt'));
    const { request_id } = await desk.approval();
    desk.berth.change(desk.session, { approval_mode: 'read_only' });
    const told = await desk.told();
    expect(told).toMatch(/^Not allowed: .*read_only/);
    expect(resolved(desk)).toMatchObject([{ request_id, by: 'mode', outcome: 'denied', result: { value: 'deny', reason: told } }]);
    expect(existsSync(desk.path('b.txt'))).toBe(false);
  });

  test.each([
    ['allow', { by: 'rule', outcome: 'answered', result: 'allow_once' }],
    ['deny', { by: 'rule', outcome: 'denied', result: { value: 'deny' } }],
  ] as const)('is settled by a rule of the config that says %s', async (action, how) => {
    const rules: Rule[] = [];
    await using desk = createDesk({ rules });
    await desk.call('write', write('b.txt'));
    await desk.approval();
    rules.push({ tool: 'write', path: 'b.txt', action });
    desk.berth.engine.rulesChanged();
    await desk.told();
    expect(resolved(desk)).toMatchObject([how]);
    expect(existsSync(desk.path('b.txt'))).toBe(action === 'allow');
  });

  test('of another session is released by “always”', async () => {
    await using desk = createDesk();
    const other = desk.berth.session({ cwd: desk.path('.') });
    await desk.call('write', write('b.txt'));
    await desk.approval();
    await desk.call('write', write('b.txt', 'new\n'), other);
    const second = await desk.approval(other);
    desk.answer(await desk.approval(), 'allow_always');
    const [one, two] = [await desk.berth.model.next(), await desk.berth.model.next()];
    one.say('ok').end();
    two.say('ok').end();
    await desk.berth.idle(desk.session);
    await desk.berth.idle(other);
    expect(resolved(desk, other)).toMatchObject([{ request_id: second.request_id, by: 'rule' }]);
  });

  test('stays, under the same request, when a change does not answer it, however often', async () => {
    const rules: Rule[] = [];
    await using desk = createDesk({ rules });
    await desk.call('write', write('b.txt'));
    const { request_id } = await desk.approval();
    for (let i = 0; i < 8; i++) {
      rules.push({ tool: 'write', path: `other-${i}.txt`, action: 'allow' });
      desk.berth.engine.rulesChanged();
      await new Promise((done) => setImmediate(done));
    }
    const request = await desk.approval();
    expect(request.request_id).toBe(request_id);
    desk.answer(request, 'allow_once');
    await desk.told();
    expect(resolved(desk)).toMatchObject([{ request_id, by: 'test', result: 'allow_once' }]);
    expect(existsSync(desk.path('b.txt'))).toBe(true);
  });

  test('for the same thing as another one is released by the answer “session” to that', async () => {
    await using desk = createDesk();
    const outside = desk.path('../outside.txt');
    writeFileSync(outside, 'x\n');
    desk.berth.prompt(desk.session);
    (await desk.berth.model.next()).call('read', { path: outside }, 'r1').call('read', { path: outside }, 'r2').end();
    await desk.berth.until(desk.session, () => (desk.berth.store.requests.open(desk.session).length === 2 ? true : undefined));
    desk.answer(await desk.approval(), 'allow_session');
    await desk.told();
    expect(resolved(desk).map(({ by }) => by)).toEqual(['test', 'rule']);
  });
});

describe('the record', () => {
  test('has every decision: by a rule, by a mode, by a person', async () => {
    await using desk = createDesk({ rules: [{ tool: 'write', path: 'no.txt', action: 'deny' }] });
    await desk.call('read', { path: 'a.txt' });
    await desk.told();
    await desk.call('write', write('no.txt'));
    expect(await desk.told()).toBe('Not allowed: config.json: deny write no.txt');
    await desk.call('write', write('b.txt'));
    desk.answer(await desk.approval(), 'allow_once');
    await desk.told();
    await desk.call('write', write('c.txt'));
    desk.answer(await desk.approval(), 'deny');
    await desk.berth.idle(desk.session);
    expect(decisions(desk.berth)).toEqual([
      'deny write by test: no reason was given',
      'allow write by test: allowed once',
      'deny write by policy: config.json: deny write no.txt',
      'allow read by policy: it is in the workspace',
    ]);
  });
});

test.each([
  ['allow_once', 'allow write by test: allowed once'],
  ['allow_always', 'allow write by test: allowed (always)'],
])('the record has an answer even if the call cannot be carried out any more: %s', async (answer, row) => {
  await using desk = createDesk();
  await desk.call('write', write('note.txt'));
  const request = await desk.approval();
  writeFileSync(desk.path('note.txt'), 'by hand\n');
  desk.answer(request, answer);
  expect(decisions(desk.berth)).toEqual([row]);
  expect(await desk.told()).toMatch(/exists and was not read/);
  expect(decisions(desk.berth)).toEqual([row]);
  expect(readFileSync(desk.path('note.txt'), 'utf8')).toBe('by hand\n');
});

test('a tool that does not declare what it touches runs only once a person allows it', async () => {
  const ran: unknown[] = [];
  const mystery: Tool = {
    name: 'mystery',
    description: 'Nobody knows.',
    parameters: zodParameters(z.unknown()),
    readOnly: false,
    resumable: false,
    title: () => 'mystery',
    run(args) {
      ran.push(args);
      return Promise.resolve(toolText('done'));
    },
  };
  await using desk = createDesk({ more: [mystery] });
  desk.berth.change(desk.session, { approval_mode: 'full' });
  await desk.call('mystery', { to: 'everyone' });
  const request = await desk.approval();
  expect(request.params).toMatchObject({ kind: 'approval', tool_name: 'mystery', args: { to: 'everyone' } });
  expect(ran).toEqual([]);
  desk.answer(request, 'allow_once');
  expect(await desk.told()).toBe('done');
  desk.berth.change(desk.session, { approval_mode: 'read_only' });
  await desk.call('mystery', {});
  expect(await desk.told()).toMatch(/^Not allowed: mystery does not declare/);
  expect(ran).toHaveLength(1);
});

test('a tool of others that declares an effect is asked about by its name, may be allowed for the session, and runs', async () => {
  await using desk = createDesk();
  const effect: Effect = { kind: 'effect', name: 'forecast', server: 'weather.example', readOnly: false };
  const tool = foreignTool({ prepare: () => Promise.resolve({ accesses: [effect] }) });
  expect(desk.berth.engine.tools.add(tool).ok).toBe(true);
  await desk.call('weather', { city: 5 });
  expect(await desk.told()).toBe('The arguments do not fit weather: city: must be a string');
  await desk.call('weather', { city: 'Oslo' });
  const request = await desk.approval();
  expect(request.params).toMatchObject({
    tool_name: 'weather',
    args: { city: 'Oslo' },
    subject: { kind: 'tool_call' },
    why: 'it calls forecast of the server weather.example',
  });
  desk.answer(request, 'allow_session');
  expect(await desk.told()).toBe('It rains in Oslo.');
  await desk.call('weather', { city: 'Rome' });
  expect(await desk.told()).toBe('It rains in Rome.');
});

test('an approval does not hold for a tool that was changed to do something else meanwhile', async () => {
  await using desk = createDesk();
  const withEffect = (name: string): Tool =>
    foreignTool({ prepare: () => Promise.resolve({ accesses: [{ kind: 'effect', name, readOnly: false }] }) });
  const added = desk.berth.engine.tools.add(withEffect('forecast'));
  await desk.call('weather', { city: 'Oslo' });
  const first = await desk.approval();
  if (added.ok) added.value.change(withEffect('make_rain'));
  const second = await desk.berth.until(desk.session, () =>
    desk.berth.store.requests.open(desk.session).find(({ request_id }) => request_id !== first.request_id),
  );
  expect(second.params).toMatchObject({ why: 'it calls make_rain' });
  desk.answer(second, 'allow_once');
  expect(await desk.told()).toBe('It rains in Oslo.');
  expect(desk.berth.store.requests.open(desk.session)).toEqual([]);
});

describe('a command', () => {
  /** Says what it may reach, and runs nothing. */
  const bash: Tool<{ command: string; network?: boolean | undefined; unsandboxed?: boolean | undefined }> = {
    name: 'bash',
    description: 'Says what it may reach.',
    parameters: zodParameters(z.object({ command: z.string(), network: z.boolean().optional(), unsandboxed: z.boolean().optional() })),
    readOnly: false,
    resumable: false,
    title: ({ command }) => command,
    prepare: ({ command, network = false, unsandboxed = false }) =>
      Promise.resolve({ accesses: [{ kind: 'command', command, network, unsandboxed }] }),
    run: (_, { reach }) => Promise.resolve(toolText(reach.confinement.hidden.join('\n'))),
  };
  /** Says how it runs, and runs nothing. */
  const confined: typeof bash = {
    ...bash,
    run: (_, { reach: { confinement } }) => Promise.resolve(toolText(`${confinement.kind} ${confinement.network}`)),
  };
  const valuesOf = ({ params }: UiRequest): unknown[] => ('options' in params ? params.options.map(({ value }) => value) : []);

  test('that is known to need the network can be allowed with it, for this once', async () => {
    await using desk = createDesk({ more: [confined] });
    await desk.call('bash', { command: 'git push' });
    const request = await desk.approval();
    expect(request.params).toMatchObject({ network: false });
    expect(valuesOf(request)).toEqual(['allow_once', 'allow_network', 'allow_session', 'allow_always', 'deny']);
    desk.answer(request, 'allow_network');
    expect(await desk.told()).toBe('sandbox true');
    expect(decisions(desk.berth)[0]).toBe('allow bash by test: allowed once, with the network');
    await desk.call('bash', { command: 'git push' });
    desk.answer(await desk.approval(), 'allow_once');
    expect(await desk.told()).toBe('sandbox false');
  });

  test.each([['make'], ['git status'], ['npm test']])('that is not known to need the network is not offered it: %s', async (command) => {
    await using desk = createDesk({ more: [confined] });
    await desk.call('bash', { command });
    const request = await desk.approval();
    expect(valuesOf(request)).not.toContain('allow_network');
    expect(desk.berth.answer(request.request_id, { result: 'allow_network' }).ok).toBe(false);
    desk.answer(request, 'deny');
    await desk.berth.idle(desk.session);
  });

  test('that gets the network anyway is not offered it again', async () => {
    await using desk = createDesk({ more: [confined] });
    await desk.call('bash', { command: 'git push', network: true });
    const request = await desk.approval();
    expect(valuesOf(request)).not.toContain('allow_network');
    desk.answer(request, 'allow_once');
    expect(await desk.told()).toBe('sandbox true');
  });

  test('that was approved reaches what it may reach at that time: a rule of meanwhile counts', async () => {
    const rules: Rule[] = [];
    await using desk = createDesk({ rules, more: [bash] });
    await desk.call('bash', { command: 'make' });
    const request = await desk.approval();
    rules.push({ tool: 'read', path: 'a.txt', action: 'deny' });
    desk.answer(request, 'allow_once');
    expect((await desk.told()).split('\n')).toContain(desk.path('a.txt'));
  });

  test('that was approved writes nothing if the mode became read_only meanwhile', async () => {
    const writes: typeof bash = { ...bash, run: (_, { reach }) => Promise.resolve(toolText(JSON.stringify(reach.confinement.writable))) };
    await using desk = createDesk({ more: [writes] });
    await desk.call('bash', { command: 'make' });
    const request = await desk.approval();
    desk.berth.change(desk.session, { approval_mode: 'read_only' });
    desk.answer(request, 'allow_once');
    expect(await desk.told()).toBe('[]');
  });

  test.each([
    [{ network: true }, 'bash make (exactly), with the network'],
    [{ unsandboxed: true }, 'bash make (exactly), outside the sandbox'],
    [{}, 'bash make (exactly)'],
  ])('is remembered with what it wants beside, and the question says so: %j', async (wishes, rule) => {
    await using desk = createDesk({ more: [bash] });
    await desk.call('bash', { command: 'make', ...wishes });
    const request = await desk.approval();
    const rules = [{ command: 'make', exact: true, ...wishes }];
    expect(request.params).toMatchObject({ rule, rules, remember: rules });
    expect(approvalOf(request).options).toContainEqual({
      value: 'allow_always',
      key: 'w',
      label: `Always allow in this workspace: ${rule}`,
    });
    desk.answer(request, 'deny');
    await desk.berth.idle(desk.session);
  });
});

describe("a workspace's own config", () => {
  const config = (rules: Rule[], digest = 'd1'): WorkspaceConfig => ({ path: '/w/.berth/config.json', digest, rules, problem: undefined });
  const open: Rule[] = [{ tool: 'write', action: 'allow' }];

  test('grants nothing until it is trusted, and then what it says', async () => {
    await using desk = createDesk({ config: config(open) });
    await desk.call('write', write('b.txt'));
    const asked = await desk.approval();
    expect(asked).toMatchObject({ method: 'confirm', params: { kind: 'trust', digest: 'd1' } });
    expect(existsSync(desk.path('b.txt'))).toBe(false);
    desk.answer(asked, true);
    await desk.told();
    expect(existsSync(desk.path('b.txt'))).toBe(true);
    await desk.call('write', write('c.txt'));
    await desk.told();
    expect(existsSync(desk.path('c.txt'))).toBe(true);
  });

  test('is in force with the commit that takes the answer, and not without it', async () => {
    await using desk = createDesk({ config: config(open) });
    await desk.call('write', write('b.txt'));
    const asked = await desk.approval();
    const isTrusted = () => desk.berth.store.permissions.isTrusted(desk.path('.').replace(/\/$/, ''), 'd1');
    const theirs = new (loadSqlite())(desk.berth.dbPath);
    theirs.exec('BEGIN IMMEDIATE');
    expect(desk.berth.answer(asked.request_id, { result: true })).toMatchObject({ ok: false, fault: 'store_busy' });
    theirs.exec('ROLLBACK');
    theirs.close();
    expect(isTrusted()).toBeUndefined();
    desk.answer(asked, true);
    // Nothing else has run since: there is no second commit that could fail.
    expect(isTrusted()).toBe(true);
    await desk.told();
  });

  test('is put into words with all that its rules give', async () => {
    const rules: Rule[] = [
      { tool: 'bash', command: 'npm test', action: 'allow', unsandboxed: true },
      { tool: 'bash', command: 'npm ci', action: 'allow', network: true, exact: true },
      { tool: 'read', path: '.env', action: 'deny' },
      { tool: '*', path: 'a', action: 'ask' },
      { tool: '*', pattern: '*secret*', action: 'deny' },
      ...open,
    ];
    await using desk = createDesk({ config: config(rules) });
    await desk.call('write', write('b.txt'));
    const asked = await desk.approval();
    expect(String(asked.params.message).split('\n').slice(1, -1)).toEqual([
      '  allow bash npm test, outside the sandbox',
      '  allow bash npm ci (exactly), with the network',
      '  deny read .env',
      '  ask * the path a',
      '  deny * anything like *secret*',
      '  allow write every call',
    ]);
    desk.answer(asked, false);
    desk.answer(await desk.approval(), 'deny');
    await desk.berth.idle(desk.session);
  });

  test('is asked about while the mode can change: a call after it is judged by the mode of then', async () => {
    await using desk = createDesk({ config: config(open) });
    desk.berth.change(desk.session, { approval_mode: 'auto_edit' });
    await desk.call('write', write('b.txt'));
    const asked = await desk.approval();
    expect(asked.params.kind).toBe('trust');
    desk.berth.change(desk.session, { approval_mode: 'read_only' });
    desk.answer(asked, false);
    expect(await desk.told()).toMatch(/^Not allowed: .*read_only/);
    expect(existsSync(desk.path('b.txt'))).toBe(false);
  });

  test('that is not trusted is asked about once, and inert', async () => {
    await using desk = createDesk({ config: config(open) });
    for (const name of ['b.txt', 'c.txt']) {
      await desk.call('write', write(name));
      let asked = await desk.approval();
      if (asked.params.kind === 'trust') {
        expect(name).toBe('b.txt');
        desk.answer(asked, false);
        asked = await desk.berth.until(desk.session, () =>
          desk.berth.store.requests.open(desk.session).find(({ params }) => params.kind === 'approval'),
        );
      }
      desk.answer(asked, { value: 'deny', reason: 'no' });
      await desk.told();
    }
  });

  test('is asked about again when it has changed', async () => {
    const own = config(open);
    await using desk = createDesk({ config: own });
    await desk.call('write', write('b.txt'));
    desk.answer(await desk.approval(), true);
    await desk.told();
    own.digest = 'd2';
    await desk.call('write', write('c.txt'));
    expect(await desk.approval()).toMatchObject({ params: { kind: 'trust', digest: 'd2' } });
    desk.berth.abort(desk.session);
    await desk.berth.idle(desk.session);
  });

  test('is asked about once for calls that run side by side, and nobody waits for a slot meanwhile', async () => {
    await using desk = createDesk({ config: config(open), runsAtOnceMax: 1 });
    desk.berth.prompt(desk.session);
    (await desk.berth.model.next()).call('read', { path: 'a.txt' }, 'r1').call('read', { path: 'a.txt' }, 'r2').end();
    const asked = await desk.approval();
    expect(asked.params.kind).toBe('trust');
    const other = desk.berth.session({ cwd: '/' });
    desk.berth.prompt(other);
    (await desk.berth.model.next()).say('meanwhile').end();
    await desk.berth.idle(other);
    expect(desk.berth.store.requests.open(desk.session)).toHaveLength(1);
    desk.answer(asked, true);
    await desk.told();
    expect(desk.berth.events(desk.session).filter(({ type }) => type === 'ui_request')).toHaveLength(1);
  });

  test('with nobody there to ask is inert', async () => {
    await using desk = createDesk({ config: config(open), attended: () => false });
    await desk.call('write', write('b.txt'));
    expect((await desk.approval()).params.kind).toBe('approval');
    desk.berth.abort(desk.session);
    await desk.berth.idle(desk.session);
  });
});
