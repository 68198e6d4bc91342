import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import type { ProcessRow } from '../../src/sandbox/processes.js';
import { missing } from '../needs.js';
import { childPath, confine, follow, memoryLedger, survivors, testProcesses, uniqueSeconds } from '../support/commands.js';
import { makeTempDir } from '../support/temp-dir.js';

const driver = fileURLToPath(new URL('../support/command-driver.ts', import.meta.url));

/** Kills a daemon in the middle of all trees, and returns what it had noted. */
async function crash(kind: 'sandbox' | 'bare', dir: string, seconds: number): Promise<ProcessRow[]> {
  const child = spawn(process.execPath, ['--import', 'tsx', driver, 'crash', dir, kind, String(seconds)], {
    env: { PATH: childPath },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  expect(survivors(String(seconds)).length).toBeGreaterThan(50);
  child.kill('SIGKILL');
  await once(child, 'exit');
  return readFileSync(`${dir}/ledger`, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as ProcessRow);
}

describe.skipIf(missing('python3'))('after kill -9 of the daemon, the next one leaves nobody of what was running (needs python3)', () => {
  test.skipIf(missing('bwrap'))('in sandboxes (needs bwrap)', { timeout: 60_000 }, async () => {
    using dir = makeTempDir();
    const seconds = uniqueSeconds();
    const ledger = memoryLedger(await crash('sandbox', realpathSync(dir.path), seconds));
    await testProcesses(dir.path, {}, { ledger }).reapOrphans();
    expect(survivors(String(seconds))).toEqual([]);
    expect(ledger.rows).toEqual([]);
  });

  test('without bubblewrap', { timeout: 60_000 }, async () => {
    using dir = makeTempDir();
    const seconds = uniqueSeconds();
    const ledger = memoryLedger(await crash('bare', realpathSync(dir.path), seconds));
    expect(survivors(String(seconds)).length).toBeGreaterThan(50);
    await testProcesses(dir.path, {}, { ledger }).reapOrphans();
    expect(survivors(String(seconds))).toEqual([]);
    expect(ledger.rows).toEqual([]);
  });
});

test('a stranger that has the pid by now is not touched, and the row goes', async () => {
  using dir = makeTempDir();
  const seconds = uniqueSeconds();
  const noted = memoryLedger();
  const processes = testProcesses(dir.path, {}, { ledger: noted });
  const { command } = await follow(processes, `sleep ${seconds}`, realpathSync(dir.path), confine('bare', dir.path));
  const [row] = noted.rows;
  const later = memoryLedger([
    { ...row!, startTime: row!.startTime - 1, marker: 'another' },
    { ...row!, bootId: 'another' },
  ]);
  await testProcesses(dir.path, {}, { ledger: later }).reapOrphans();
  expect(later.rows).toEqual([]);
  expect(survivors(String(seconds))).not.toEqual([]);
  await command.kill();
  expect(survivors(String(seconds))).toEqual([]);
});
