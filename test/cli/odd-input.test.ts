import { spawnSync } from 'node:child_process';
import { expect, test, vi } from 'vitest';
import { limits } from '../../src/protocol/limits.js';
import { program } from '../support/daemon.js';
import { shareDaemon } from '../support/shared-daemon.js';
import { openPlace, runCommand, runJson, runOk } from './run-cli.js';

vi.setConfig({ testTimeout: 90_000 });

const shared = shareDaemon();

test('what is piped into berth send beside a text goes below it, in the same message', async () => {
  await using daemon = openPlace(shared());
  await runOk(daemon, ['new']);
  expect(await runOk(daemon, ['send', '.', 'say these:', '--wait'], { input: 'one\ntwo\n' })).toBe('these:\n\none\ntwo\n');
  expect(await runOk(daemon, ['send', 'say here:', '--wait'], { input: 'three' })).toBe('here:\n\nthree\n');
  expect(await runOk(daemon, ['send', 'say alone', '--wait'])).toBe('alone\n');
  expect((await runJson(daemon, ['log', '.'])).filter(({ role }) => role === 'user')).toHaveLength(3);
});

test('a name that no session has is told in one line, however long and whatever is in it', async () => {
  await using daemon = openPlace(shared());
  const long = 'x'.repeat(limits.searchQueryCharsMax + 1);
  for (const args of [
    ['log', long],
    ['run', '--session', long, 'say x'],
    ['log', 'a\u001b[31mb\nc'],
    ['answer', `${long}\n`],
  ]) {
    const { code, stderr } = await runCommand(daemon, args);
    expect({ code, lines: stderr.split('\n').length }).toEqual({ code: 1, lines: 2 });
    expect(stderr).toMatch(/^berth: there is no (session|open question) [xa]/);
    expect(stderr.length).toBeLessThan(200);
  }
  expect(await runCommand(daemon, ['run', '--title', long, 'say x'])).toMatchObject({
    code: 64,
    stderr: `berth: a title has at most ${limits.titleCharsMax} characters\n`,
  });
});

test('a full disk behind standard output is said to be full, and is no fault of berth', async () => {
  await using daemon = openPlace(shared());
  const berth = `"${process.execPath}" "${program}"`;
  for (const line of [`${berth} ls --json >/dev/full`, `${berth} run "say x" </dev/null >/dev/full`]) {
    await runOk(daemon, ['new']);
    const { status, stderr } = spawnSync('sh', ['-c', line], { cwd: daemon.workdir, env: daemon.env, encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining('the disk that standard output goes to is full') });
  }
  const beside = spawnSync('sh', ['-c', `${berth} run "call 2 tools" </dev/null 2>/dev/full`], {
    cwd: daemon.workdir,
    env: daemon.env,
    encoding: 'utf8',
  });
  expect(beside).toMatchObject({ status: 0, stdout: expect.stringContaining('2 calls are done.') });
});
