import { existsSync, readFileSync } from 'node:fs';
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
