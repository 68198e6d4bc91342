import { getEventListeners } from 'node:events';
import { existsSync, mkdirSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createBashTool } from '../../src/tools/shell/bash.js';
import type { ToolContext } from '../../src/tools/port.js';
import type { Confinement } from '../../src/sandbox/port.js';
import type { Processes } from '../../src/sandbox/port.js';
import { missing } from '../needs.js';
import { ampleGraceMs, confine, randomId, survivors, testProcesses, uniqueSeconds } from '../support/commands.js';
import { makeTempDir } from '../support/temp-dir.js';
import { badFields, callTool, parseArgs, toolContext, workspaceReach, type Said } from '../support/tool-context.js';

afterEach(() => {
  vi.useRealTimers();
});

interface Place extends Disposable {
  cwd: string;
  processes: Processes;
  context: ToolContext;
  call(args: unknown, overrides?: Partial<ToolContext>): Promise<Said>;
}

function makePlace(kind: Confinement['kind'] = 'bare'): Place {
  const dir = makeTempDir();
  const cwd = realpathSync(dir.path);
  const processes = testProcesses(cwd, {}, { killGraceMs: ampleGraceMs });
  const bash = createBashTool({ processes });
  const reach = { ...workspaceReach(cwd), confinement: confine(kind, cwd) };
  const context = toolContext({ cwd, sessionId: randomId('ses'), runId: randomId('run'), reach });
  return {
    cwd,
    processes,
    context,
    call: (args, overrides = {}) => callTool(bash, args, { ...context, ...overrides }),
    [Symbol.dispose]: () => dir[Symbol.dispose](),
  };
}

test('the output of a command is its result, with how it ended', async () => {
  using place = makePlace();
  expect(await place.call({ command: 'echo out; echo err >&2; pwd' })).toEqual({
    text: `out\nerr\n${place.cwd}\n[exit code 0]`,
    isError: false,
    details: { exit_code: 0, counts: { bytes: 9 + place.cwd.length, lines: 3, dropped_bytes: 0 } },
    content: expect.anything(),
  });
  expect((await place.call({ command: 'true' })).text).toBe('[exit code 0]');
  expect((await place.call({ command: 'printf x' })).text).toBe('x\n[exit code 0]');
});

test('a command that fails is an error, with its code or signal', async () => {
  using place = makePlace();
  expect(await place.call({ command: 'echo bad; exit 3' })).toMatchObject({
    text: 'bad\n[exit code 3]',
    isError: true,
    details: { exit_code: 3 },
  });
  expect(await place.call({ command: 'kill -SEGV $$' })).toMatchObject({
    text: expect.stringMatching(/\[exit code 139, SIGSEGV\]$/),
    isError: true,
    details: { exit_code: 139, signal: 'SIGSEGV' },
  });
});

test('whoever watches sees the output while it runs', async () => {
  using place = makePlace();
  const stop = new AbortController();
  let heard = '';
  const output = (text: string): void => {
    heard += text;
    if (heard === 'one\n') stop.abort();
  };
  const { text, isError } = await place.call({ command: 'echo one; sleep 1000' }, { output, signal: stop.signal });
  expect([text, isError]).toEqual(['one\n[stopped]\n[exit code 143, SIGTERM]', true]);
  expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
});

test('stopped before it began, nothing is started', async () => {
  using place = makePlace();
  expect(await place.call({ command: 'touch began' }, { signal: AbortSignal.abort() })).toMatchObject({ isError: true });
  expect((await place.call({ command: 'ls' })).text).toBe('[exit code 0]');
});

test('when its time is over it is ended, and the result says so', async () => {
  using place = makePlace();
  const seconds = uniqueSeconds();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const call = place.call({ command: `echo begun; touch began; sleep ${seconds}`, timeout: 100 });
  while (!existsSync(join(place.cwd, 'began'))) await new Promise((resolve) => setImmediate(resolve));
  vi.advanceTimersByTime(100_000);
  vi.useRealTimers();
  const { text, isError } = await call;
  expect(text).toMatch(
    /^begun\n\[stopped by the timeout after 100 s; give a longer timeout, or background: true\]\n\[exit code 143, SIGTERM\]$/,
  );
  expect([isError, survivors(String(seconds))]).toEqual([true, []]);
});

test('too long a timeout is cut, and the result says so', async () => {
  using place = makePlace();
  expect((await place.call({ command: 'true', timeout: 900 })).text).toBe(
    '[a timeout of 900 s is too long; 300 s were allowed]\n[exit code 0]',
  );
});

test('a directory that is gone is a clear error', async () => {
  using place = makePlace();
  const gone = join(place.cwd, 'gone');
  mkdirSync(gone);
  const reach = workspaceReach(gone);
  rmSync(gone, { recursive: true });
  expect(await place.call({ command: 'true' }, { cwd: gone, reach })).toMatchObject({
    text: `The working directory ${gone} cannot be used: ENOENT.`,
    isError: true,
  });
});

test.for([
  'cat',
  'read x',
  'ssh -o StrictHostKeyChecking=ask nobody@localhost true',
  'git -c credential.helper= ls-remote https://localhost:1/x',
  'su -c id nobody',
  'python3 -i',
  'less /etc/passwd',
])('%s does not wait for anybody', async (command) => {
  using place = makePlace();
  expect((await place.call({ command, timeout: 20 })).text).not.toContain('[stopped');
});

test('what a call asks for is told before it runs, and polling asks for nothing', async () => {
  using place = makePlace();
  const bash = createBashTool({ processes: place.processes });
  const prepare = (args: object) => bash.prepare!(parseArgs(bash, args), { sessionId: 's', cwd: '/' });
  expect(await prepare({ command: 'ls', network: true })).toEqual({
    accesses: [{ kind: 'command', command: 'ls', network: true, unsandboxed: false }],
  });
  expect(await prepare({ id: 'bg_1', kill: true })).toEqual({ accesses: [] });
});

test('arguments that mean nothing are refused', () => {
  const bash = createBashTool({ processes: testProcesses('/') });
  const refused = (args: unknown) => badFields(bash, args);
  expect(refused({})).toEqual(['command']);
  expect(refused({ command: 'ls', id: 'bg_1' })).toEqual(['command']);
  expect(refused({ command: '' })).toEqual(['command']);
  expect(refused({ command: 'a\0b' })).toEqual(['command']);
  expect(refused({ command: '漢'.repeat(40_000) })).toEqual(['command']);
  expect(refused({ command: 'ls', kill: true })).toEqual(['kill']);
  expect(refused({ id: 'bg_1', background: true })).toEqual(['id']);
  expect(refused({ command: 'ls', timeout: 0 })).toEqual(['timeout']);
  expect(bash.description.length).toBeLessThanOrEqual(120);
  expect(bash.parameters.jsonSchema).toMatchObject({ type: 'object' });
});

test('its title is one line', () => {
  const { title } = createBashTool({ processes: testProcesses('/') });
  expect(title({ command: 'ls\n  -l' })).toBe('ls -l');
  expect(title({ command: 'x'.repeat(1_000) })).toHaveLength(81);
  expect(title({ id: 'bg_1' })).toBe('Look at bg_1');
  expect(title({ id: 'bg_1', kill: true })).toBe('End bg_1');
});

describe.skipIf(missing('bwrap'))('in a sandbox (needs bwrap)', () => {
  test.for([
    ['echo x > /etc/berth-test', 'unsandboxed: true'],
    ['echo "curl: (6) Could not resolve host: x"; exit 6', 'network: true'],
    [`python3 -c 'import socket; socket.create_connection(("192.0.2.1", 80))'`, 'network: true'],
  ] as const)('%s failed because of it, and the result says what to ask for', async ([command, argument]) => {
    using place = makePlace('sandbox');
    expect((await place.call({ command })).text).toMatch(
      new RegExp(`\\[it ran in a sandbox that .*; ${argument} asks the person for more\\]`),
    );
  });

  test('a failure of another kind has no such hint, and neither has one without the sandbox', async () => {
    using place = makePlace('sandbox');
    expect((await place.call({ command: 'echo no; exit 1' })).text).toBe('no\n[exit code 1]');
    using bare = makePlace();
    expect((await bare.call({ command: 'echo Read-only file system; exit 1' })).text).toBe('Read-only file system\n[exit code 1]');
  });

  test('filling /tmp ends with an error', { timeout: 60_000 }, async () => {
    using place = makePlace('sandbox');
    const { text, isError } = await place.call({ command: 'dd if=/dev/zero of=/tmp/full bs=64M count=64 2>&1' });
    expect(isError).toBe(true);
    expect(text).toContain('No space left on device');
  });
});

describe('background commands', () => {
  const idOf = ({ text }: Said): string => /bg_[0-9a-f]+/.exec(text)?.[0] ?? '';

  test('go on after the call, are polled by their id, and tell their end once', async () => {
    using place = makePlace();
    const started = await place.call({ command: 'echo one; until [ -e go ]; do :; done; echo two; exit 4', background: true });
    expect(started.isError).toBe(false);
    const id = idOf(started);
    let said = '';
    while (!said.includes('one')) said += (await place.call({ id, timeout: 0.1 })).text;
    expect(said).toContain(`[${id} is running]`);
    await place.call({ command: 'touch go' });
    expect(await place.call({ id, timeout: 20 })).toMatchObject({ text: 'two\n[exit code 4]', isError: true, details: { exit_code: 4 } });
    expect(await place.call({ id })).toMatchObject({ isError: true, text: expect.stringContaining('There is no background command') });
  });

  test('are ended on request, with everything they started', async () => {
    using place = makePlace();
    const seconds = uniqueSeconds();
    const id = idOf(await place.call({ command: `setsid sleep ${seconds} & echo up; sleep ${seconds}`, background: true }));
    const { text, isError } = await place.call({ id, kill: true });
    expect([text.includes('SIGTERM'), isError, survivors(String(seconds))]).toEqual([true, false, []]);
    expect((await place.call({ id })).isError).toBe(true);
  });

  test('end with their run, and are forgotten', async () => {
    using place = makePlace();
    const seconds = uniqueSeconds();
    const ids = [];
    for (const command of [`sleep ${seconds}`, 'yes | head -c 100000']) ids.push(idOf(await place.call({ command, background: true })));
    await place.processes.killRun(place.context.runId);
    expect(survivors(String(seconds))).toEqual([]);
    for (const id of ids) expect((await place.call({ id })).isError).toBe(true);
  });

  test('belong to their session', async () => {
    using place = makePlace();
    const id = idOf(await place.call({ command: 'sleep 1000', background: true }));
    expect((await place.call({ id }, { sessionId: 'ses_other' })).isError).toBe(true);
    expect((await place.call({ id, kill: true }, { sessionId: 'ses_other' })).isError).toBe(true);
    expect((await place.call({ id })).isError).toBe(false);
    await place.processes.killAll();
  });

  test('are bounded in number; those that have ended give way', async () => {
    using place = makePlace();
    const started = await Promise.all(Array.from({ length: 7 }, () => place.call({ command: 'sleep 1000', background: true })));
    const short = await place.call({ command: 'true', background: true });
    while (place.processes.running().length > 7) await new Promise((resolve) => setImmediate(resolve));
    expect((await place.call({ command: 'sleep 1000', background: true })).isError).toBe(false);
    expect(await place.call({ command: 'sleep 1000', background: true })).toMatchObject({
      isError: true,
      text: expect.stringMatching(/^8 background commands run/),
    });
    expect((await place.call({ id: idOf(short) })).isError).toBe(true);
    expect(started.every(({ isError }) => !isError)).toBe(true);
    await place.processes.killAll();
  });

  test('keep a long output whole, to be read when they have ended', async () => {
    using place = makePlace();
    const id = idOf(await place.call({ command: 'seq 100000', background: true }));
    const { text, details } = await place.call({ id, timeout: 20 });
    expect(text).toMatch(/^1\n2\n[^]*left out; all of it with tool_output, artifact art_\d+\][^]*100000\n\[exit code 0\]$/);
    const read = place.context.artifacts.read(details!.artifact_id!, 0, 1_000_000);
    expect(read?.data.toString()).toBe(Array.from({ length: 100_000 }, (_, i) => `${i + 1}\n`).join(''));
  });
});
