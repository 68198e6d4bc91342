import { existsSync, mkdirSync, readFileSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createSession } from '../../src/core/settings.js';
import { createPolicy } from '../../src/policy/judge.js';
import type { UiRequest } from '../../src/protocol/requests/requests.js';
import { createEditTool } from '../../src/tools/files/edit.js';
import type { Tool } from '../../src/tools/port.js';
import { createReadMarks } from '../../src/tools/files/read-marks.js';
import { createReadTool } from '../../src/tools/files/read.js';
import { createWriteTool } from '../../src/tools/files/write.js';
import { createTestEngine, type EngineSetup, type TestEngine } from '../support/engine.js';
import { makeTempDir } from '../support/temp-dir.js';

interface Desk extends AsyncDisposable {
  berth: TestEngine;
  session: string;
  cwd: string;
  other: string;
  /** Lets the model make one call, in a run of its own. */
  call(name: string, args: unknown): Promise<void>;
  question(): Promise<UiRequest>;
  /** Ends the run and says what the model was told. */
  told(): Promise<string>;
}

/** A session in auto_edit that has used its directory, and another project beside it. */
async function createDesk(): Promise<Desk> {
  const dir = makeTempDir();
  const home = realpathSync(dir.path);
  const [cwd, other] = [join(home, 'mine'), join(home, 'other')];
  for (const path of [cwd, other]) mkdirSync(path);
  writeFileSync(join(cwd, 'a.txt'), 'mine\n');
  writeFileSync(join(other, 'a.txt'), 'other\n');
  const marks = createReadMarks();
  const deps = { marks, onLateCode: async () => () => undefined };
  const policy = createPolicy({
    home,
    umask: 0o022,
    settings: () => ({ noSandbox: undefined, network: false, writable: [], own: [] }),
  });
  const setup: EngineSetup = {
    tools: [createReadTool({ marks }), createWriteTool(deps), createEditTool(deps)] as Tool[],
    hands: {
      loadPolicy: () => Promise.resolve(policy),
      ruleSources: { configured: () => [], inWorkspace: () => undefined },
    },
  };
  const berth = createTestEngine(setup);
  const session = berth.session({ cwd, approval_mode: 'auto_edit' });
  const desk: Desk = {
    berth,
    session,
    cwd,
    other,
    async call(name, args) {
      berth.prompt(session);
      (await berth.model.next()).call(name, args, 'c1').end();
    },
    question: () => berth.until(session, () => berth.store.requests.open(session)[0]),
    async told() {
      const next = await berth.model.next();
      next.say('ok').end();
      await berth.idle(session);
      const result = next.request.messages.filter(({ role }) => role === 'tool_result').at(-1);
      return result?.content.map((block) => (block.type === 'text' ? block.text : '')).join('') ?? '';
    },
    async [Symbol.asyncDispose]() {
      await berth[Symbol.asyncDispose]();
      dir[Symbol.dispose]();
    },
  };
  await desk.call('read', { path: 'a.txt' });
  expect(await desk.told()).toContain('mine');
  return desk;
}

test('a directory that became a link is not followed: the person is asked, and a no leaves everything alone', async () => {
  await using desk = await createDesk();
  renameSync(desk.cwd, `${desk.cwd}-away`);
  symlinkSync(desk.other, desk.cwd);
  for (const [tool, args] of [
    ['read', { path: 'a.txt' }],
    ['write', { path: 'new.txt', content: 'new\n' }],
  ] as const) {
    await desk.call(tool, args);
    const asked = await desk.question();
    expect(asked).toMatchObject({ method: 'confirm', params: { kind: 'directory' } });
    expect(asked.params.message).toContain(`was ${desk.cwd} and is now ${desk.other}`);
    expect(desk.berth.answer(asked.request_id, { result: false }).ok).toBe(true);
    const said = await desk.told();
    expect(said).toContain('nothing was done');
    expect(said).not.toContain('other\n');
  }
  expect(existsSync(join(desk.other, 'new.txt'))).toBe(false);
});

test('a yes moves the session, in the commit of the answer, and is asked for once', async () => {
  await using desk = await createDesk();
  renameSync(desk.cwd, `${desk.cwd}-away`);
  symlinkSync(desk.other, desk.cwd);
  await desk.call('write', { path: 'new.txt', content: 'new\n' });
  const asked = await desk.question();
  expect(desk.berth.answer(asked.request_id, { result: true }).ok).toBe(true);
  expect(desk.berth.store.anchors.read(desk.session)?.realPath).toBe(desk.other);
  expect(await desk.told()).toContain('Created');
  expect(readFileSync(join(desk.other, 'new.txt'), 'utf8')).toBe('new\n');
  await desk.call('read', { path: 'a.txt' });
  expect(await desk.told()).toContain('other');
});

test('another directory under the same name is asked about as well', async () => {
  await using desk = await createDesk();
  renameSync(desk.cwd, `${desk.cwd}-away`);
  renameSync(desk.other, desk.cwd);
  await desk.call('read', { path: 'a.txt' });
  const asked = await desk.question();
  expect(asked.params.message).toContain('was replaced by another one');
  expect(desk.berth.answer(asked.request_id, { result: false }).ok).toBe(true);
  expect(await desk.told()).toContain('nothing was done');
});

test('a directory that is gone is gone for every tool, and none makes it again', async () => {
  await using desk = await createDesk();
  rmSync(desk.cwd, { recursive: true });
  for (const [tool, args] of [
    ['read', { path: 'a.txt' }],
    ['write', { path: 'sub/new.txt', content: 'new\n' }],
    ['edit', { path: 'a.txt', old_text: 'x', new_text: 'y' }],
  ] as const) {
    await desk.call(tool, args);
    expect(await desk.told()).toBe(`The directory ${desk.cwd} of this session is gone. Make it again, or start a session elsewhere.`);
  }
  expect(existsSync(desk.cwd)).toBe(false);
});

test('a branch stays in the directory of its parent', async () => {
  await using desk = await createDesk();
  const known = desk.berth.store.anchors.read(desk.session);
  const branch = 'ses_branch';
  expect(desk.berth.engine.commit.create(branch, () => createSession(branch, { cwd: desk.cwd, parent_id: desk.session })).ok).toBe(true);
  expect(known).toBeDefined();
  expect(desk.berth.store.anchors.read(branch)).toEqual(known);
});
