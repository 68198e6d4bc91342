import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { limits } from '../../src/protocol/limits.js';
import { nothingHeld, type HeldCode } from '../../src/tools/late-code.js';
import type { LateCodeRecord } from '../../src/tools/late-code-known.js';
import { createLateCodeWatches } from '../../src/tools/late-code-watch.js';
import type { Processes, RunningCommand } from '../../src/tools/processes.js';
import { digestOf } from '../../src/tools/read-marks.js';
import { missing } from '../needs.js';
import { confine, follow, memoryLedger, testProcesses } from '../support/commands.js';
import { makeTempDir } from '../support/temp-dir.js';

const runsLater = (path: string): boolean => ['.envrc', '.husky', '.idea', 'AGENTS.md'].includes(basename(path));

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
    const hook = join(cwd, '.husky', 'pre-commit');
    const settle = await processes.approve(hook);
    expect(ledger.rows[0]?.lateCode?.writing).toEqual([join(cwd, '.husky')]);
    mkdirSync(join(cwd, '.husky'));
    writeFileSync(hook, 'approved');
    settle(digestOf(Buffer.from('approved')));
    expect(ledger.rows[0]?.lateCode).toMatchObject({ writing: [], approved: [[hook, digestOf(Buffer.from('approved'))]] });
    const crashed = memoryLedger(structuredClone(ledger.rows).map((row) => ({ ...row, bootId: 'another' })));
    expect(await testProcesses(cwd, {}, { ledger: crashed }).reapLeft(() => runsLater)).toEqual([]);
    await background.kill();
    expect((await background.exited).held).toEqual(nothingHeld);
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
    expect((await background.exited).held).toEqual({
      ...nothingHeld,
      renamed: [join(cwd, 'sub', 'held-by-berth-1-envrc')],
    });
    expect([existsSync(join(cwd, '.husky')), existsSync(join(cwd, 'sub', '.envrc'))]).toEqual([true, false]);
  });

  test('is left alone when the person changes it: what the command cannot write, it has not written', async () => {
    using dir = makeTempDir();
    const cwd = realpathSync(dir.path);
    mkdirSync(join(cwd, '.idea'));
    writeFileSync(join(cwd, 'AGENTS.md'), 'mine');
    const background = await begin(testProcesses(cwd), 'sandbox', cwd, 'echo begun; exec sleep 1000');
    writeFileSync(join(cwd, '.idea', 'workspace.xml'), 'mine');
    writeFileSync(join(cwd, 'AGENTS.md'), 'still mine');
    await background.kill();
    expect((await background.exited).held).toEqual(nothingHeld);
  });
});

describe.skipIf(missing('bwrap'))('code that would run later, and that a command in the sandbox made (needs bwrap)', () => {
  async function run(cwd: string, command: string): Promise<HeldCode> {
    const { command: started } = await follow(testProcesses(cwd), command, cwd, confine('sandbox', cwd), { runsLater });
    return (await started.exited).held;
  }

  test('is held where another file was that it moved away, which is left alone', async () => {
    using dir = makeTempDir();
    const cwd = realpathSync(dir.path);
    mkdirSync(join(cwd, 'app'));
    writeFileSync(join(cwd, 'app', 'AGENTS.md'), 'mine');
    const held = await run(cwd, 'mv app app2; mkdir app; printf EVIL >app/AGENTS.md');
    expect(held).toEqual({ ...nothingHeld, renamed: [join(cwd, 'app', 'held-by-berth-1-AGENTS.md')] });
    expect(readFileSync(join(cwd, 'app', 'held-by-berth-1-AGENTS.md'), 'utf8')).toBe('EVIL');
    expect(readFileSync(join(cwd, 'app2', 'AGENTS.md'), 'utf8')).toBe('mine');
  });

  test('is held where it was overwritten because there are too many to be made read-only', async () => {
    using dir = makeTempDir();
    const cwd = realpathSync(dir.path);
    for (let i = 0; i <= limits.lateCodePathsMax; i++) {
      mkdirSync(join(cwd, `d${i}`));
      writeFileSync(join(cwd, `d${i}`, 'AGENTS.md'), 'mine');
    }
    const { renamed } = await run(cwd, 'for f in d*; do printf EVIL >$f/AGENTS.md; done');
    expect(renamed.map((path) => readFileSync(path, 'utf8'))).toEqual(['EVIL']);
  });

  test('does not break the call when its name is as long as a name can be', async () => {
    using dir = makeTempDir();
    const cwd = realpathSync(dir.path);
    const name = `.envrc${'.'.repeat(249)}`;
    const ledger = memoryLedger();
    const processes = testProcesses(cwd, {}, { ledger });
    const { command } = await follow(processes, `echo x >${name}`, cwd, confine('sandbox', cwd), {
      runsLater: (path) => basename(path).startsWith('.envrc'),
    });
    expect((await command.exited).held).toEqual({ ...nothingHeld, renamed: [join(cwd, 'held-by-berth-1')] });
    expect([ledger.rows, processes.running()]).toEqual([[], []]);
  });

  test('leaves no command behind that counts as running when the look fails', async () => {
    using dir = makeTempDir();
    const cwd = realpathSync(dir.path);
    const ledger = memoryLedger();
    const processes = testProcesses(cwd, {}, { ledger });
    const fails = (path: string): boolean => {
      if (basename(path) === 'made') throw new Error('no policy');
      return false;
    };
    const { command } = await follow(processes, 'touch made', cwd, confine('sandbox', cwd), { runsLater: fails });
    await expect(command.exited).rejects.toThrow('no policy');
    expect([ledger.rows, processes.running()]).toEqual([[], []]);
  });
});

describe('after a crash', () => {
  const row = { pid: 1, startTime: 1, bootId: 'another', marker: 'x', sessionId: 'ses_1', runId: 'run_1', toolCallId: 'call_1' };

  async function recordOf(cwd: string): Promise<LateCodeRecord> {
    const watch = await createLateCodeWatches().confine([cwd], runsLater);
    return JSON.parse(JSON.stringify(watch.record())) as LateCodeRecord;
  }

  test('what a command had made is put aside, and what was there before is not', async () => {
    using dir = makeTempDir();
    const cwd = realpathSync(dir.path);
    for (const folder of ['old', 'new']) mkdirSync(join(cwd, folder));
    writeFileSync(join(cwd, 'old', '.envrc'), '');
    const lateCode = await recordOf(cwd);
    writeFileSync(join(cwd, 'new', '.envrc'), '');
    const ledger = memoryLedger([{ ...row, lateCode }]);
    const renamed = [join(cwd, 'new', 'held-by-berth-1-envrc')];
    expect(await testProcesses(cwd, {}, { ledger }).reapLeft(() => runsLater)).toEqual([
      { sessionId: 'ses_1', runId: 'run_1', held: { ...nothingHeld, renamed } },
    ]);
    expect([existsSync(join(cwd, 'old', '.envrc')), existsSync(join(cwd, 'new', '.envrc'))]).toEqual([true, false]);
    expect(ledger.rows).toEqual([]);
  });

  test('what cannot be looked at is told, and keeps nothing from being looked at after it', async () => {
    using dir = makeTempDir();
    const cwd = realpathSync(dir.path);
    const lateCode = await recordOf(cwd);
    writeFileSync(join(cwd, '.envrc'), '');
    const broken = { ...lateCode, roots: ['/broken'] };
    const ledger = memoryLedger([
      { ...row, lateCode: broken },
      { ...row, pid: 2, runId: 'run_2', lateCode },
    ]);
    const fault = new Error('no policy');
    const runsLaterIn = (roots: readonly string[]): typeof runsLater => {
      if (roots.includes('/broken')) throw fault;
      return runsLater;
    };
    expect(await testProcesses(cwd, {}, { ledger }).reapLeft(runsLaterIn)).toEqual([
      { sessionId: 'ses_1', runId: 'run_1', held: nothingHeld, fault },
      { sessionId: 'ses_1', runId: 'run_2', held: { ...nothingHeld, renamed: [join(cwd, 'held-by-berth-1-envrc')] } },
    ]);
    expect(ledger.rows).toEqual([]);
  });
});
