import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { runKeyCommand } from '../../src/daemon/key-command.js';
import { limits } from '../../src/protocol/limits.js';
import { makeTempDir } from '../support/temp-dir.js';

afterEach(() => {
  vi.useRealTimers();
});

function shell(script: string, env: Record<string, string> = {}): Promise<string> {
  return runKeyCommand(['sh', '-c', script], { PATH: process.env.PATH, ...env });
}

test('what it prints is returned, and it sees no keys', async () => {
  expect(await shell('printf %s "key-$OTHER$X_API_KEY"', { OTHER: '1', X_API_KEY: 'secret' })).toBe('key-1');
});

test.each([
  ['fails', 'echo secret >&2; echo secret; exit 3', /failed with exit code 3/],
  ['dies', 'kill -9 $$', /failed with SIGKILL/],
  ['prints without end', 'yes secret', /printed too much/],
])('one that %s is told by what happened, and by nothing that it printed', async (_how, script, why) => {
  const error = await shell(script).catch((thrown: unknown) => thrown as Error);
  expect(String(error)).toMatch(why);
  expect(String(error)).not.toMatch(/secret/);
});

test('one that is not there is told so', async () => {
  await expect(runKeyCommand(['no-such-program'], {})).rejects.toThrow('the command no-such-program was not found');
});

test('a program of the current directory is never run: not by a relative name, nor by a relative entry of PATH', async ({
  onTestFinished,
}) => {
  using dir = makeTempDir();
  for (const folder of ['here', 'there']) {
    mkdirSync(dir.file(folder));
    writeFileSync(dir.file(`${folder}/print-key`), `#!/bin/sh\nprintf ${folder}\n`);
    chmodSync(dir.file(`${folder}/print-key`), 0o755);
  }
  const before = process.cwd();
  onTestFinished(() => process.chdir(before));
  process.chdir(dir.file('here'));
  for (const path of ['', '.', ':', './', '../here']) {
    await expect(runKeyCommand(['print-key'], { PATH: path }), path).rejects.toThrow('was not found in the PATH of the daemon');
    expect(await runKeyCommand(['print-key'], { PATH: `${path}:${dir.file('there')}` }), path).toBe('there');
  }
  await expect(runKeyCommand(['./print-key'], { PATH: process.env.PATH })).rejects.toThrow('give its absolute path');
  expect(await runKeyCommand([dir.file('here/print-key')], {})).toBe('here');
});

test('it starts in the home directory', async () => {
  using home = makeTempDir();
  expect(await shell('pwd -P', { HOME: home.path })).toBe(`${home.path}\n`);
  expect(await shell('pwd -P', { HOME: home.file('absent') })).toBe('/\n');
});

test('one that does not end is given up on in time, with all that it started, whatever it ignores', async () => {
  using dir = makeTempDir();
  const pidFile = join(dir.path, 'pid');
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const asked = shell(`trap '' TERM; sleep 1000 & echo $! > ${pidFile}; wait`);
  const refused = expect(asked).rejects.toThrow('did not end within 30 s');
  await vi.waitUntil(() => existsSync(pidFile) && readFileSync(pidFile, 'utf8').endsWith('\n'), { timeout: 20_000 });
  vi.advanceTimersByTime(limits.keyCommandMs);
  await refused;
  const sleeper = readFileSync(pidFile, 'utf8').trim();
  const isGone = (): boolean => !existsSync(`/proc/${sleeper}`) || /^State:\s+Z/m.test(readFileSync(`/proc/${sleeper}/status`, 'utf8'));
  await vi.waitUntil(isGone, { timeout: 20_000 });
});
