import { existsSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Processes, RunningCommand } from '../../src/tools/processes.js';
import { missing } from '../needs.js';
import { confine, follow, memoryLedger, testProcesses } from '../support/commands.js';
import { makeTempDir } from '../support/temp-dir.js';

const runsLater = (path: string): boolean => ['.envrc', '.husky'].includes(basename(path));

/** Starts a command that says when it has begun. */
async function begin(processes: Processes, kind: 'sandbox' | 'namespace', cwd: string, command: string): Promise<RunningCommand> {
  const followed = await follow(processes, command, cwd, confine(kind, cwd), { runsLater });
  await followed.until('begun');
  return followed.command;
}

describe.skipIf(missing('bwrap'))('code that would run later, and that a command in the sandbox did not make (needs bwrap)', () => {
  test('is left alone when a person approved that it is written, and kept so for a crash', async () => {
    using dir = makeTempDir();
    const cwd = realpathSync(dir.path);
    const ledger = memoryLedger();
    const processes = testProcesses(cwd, {}, { ledger });
    const background = await begin(processes, 'sandbox', cwd, 'echo begun; exec sleep 1000');
    processes.approve(join(cwd, '.husky', 'pre-commit'));
    mkdirSync(join(cwd, '.husky'));
    writeFileSync(join(cwd, '.husky', 'pre-commit'), 'approved');
    expect(ledger.rows[0]?.lateCode?.before).toContain(join(cwd, '.husky'));
    await background.kill();
    expect((await background.exited).held).toEqual({ renamed: [], stuck: [] });
    expect(existsSync(join(cwd, '.husky', 'pre-commit'))).toBe(true);
  });

  test('is left alone when a command that was let out of the sandbox made it meanwhile; what the first one makes is not', async () => {
    using dir = makeTempDir();
    const cwd = realpathSync(dir.path);
    mkdirSync(join(cwd, 'sub'));
    const processes = testProcesses(cwd);
    const background = await begin(processes, 'sandbox', cwd, 'echo begun; while [ ! -e go ]; do sleep 0.01; done; echo x >sub/.envrc');
    const free = await begin(processes, 'namespace', cwd, 'mkdir .husky; echo begun');
    await free.exited;
    writeFileSync(join(cwd, 'go'), '');
    expect((await background.exited).held).toEqual({ renamed: [join(cwd, 'sub', 'held-by-berth-1-envrc')], stuck: [] });
    expect([existsSync(join(cwd, '.husky')), existsSync(join(cwd, 'sub', '.envrc'))]).toEqual([true, false]);
  });
});

test('after a crash, what a command had made is put aside, and what was there before is not', async () => {
  using dir = makeTempDir();
  const cwd = realpathSync(dir.path);
  for (const folder of ['old', 'new']) mkdirSync(join(cwd, folder));
  for (const folder of ['old', 'new']) writeFileSync(join(cwd, folder, '.envrc'), '');
  const row = { pid: 1, startTime: 1, bootId: 'another', marker: 'x', sessionId: 'ses_1', runId: 'run_1', toolCallId: 'call_1' };
  const ledger = memoryLedger([{ ...row, lateCode: { roots: [cwd], before: [join(cwd, 'old', '.envrc')] } }]);
  const renamed = [join(cwd, 'new', 'held-by-berth-1-envrc')];
  expect(await testProcesses(cwd, {}, { ledger }).reapLeft(() => runsLater)).toEqual([
    { sessionId: 'ses_1', runId: 'run_1', held: { renamed, stuck: [] } },
  ]);
  expect([existsSync(join(cwd, 'old', '.envrc')), existsSync(join(cwd, 'new', '.envrc'))]).toEqual([true, false]);
  expect(ledger.rows).toEqual([]);
});
