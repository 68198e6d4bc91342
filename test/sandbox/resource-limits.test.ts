import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, realpathSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { createResourceWatch } from '../../src/sandbox/resource-limits.js';
import { namespaceInit } from '../../src/sandbox/process-tree.js';
import { missing } from '../needs.js';
import { confine, roomy, runIn, survivors, testProcesses, uniqueSeconds } from '../support/commands.js';
import { makeTempDir } from '../support/temp-dir.js';

const kinds = missing('bwrap') ? (['bare'] as const) : (['sandbox', 'namespace', 'bare'] as const);
const few = 120;
const mb = 1024 * 1024;

/** Grows by forks of forks until it is stopped, or has some hundreds. Each carries the seconds in its arguments. */
function bomb(seconds: number): string {
  return `grow() { [ $1 -gt 0 ] && { sleep ${seconds} & grow $(($1 - 1)) & grow $(($1 - 1)) & }; wait; }; grow 9`;
}

describe.for(kinds)('%s', (kind) => {
  test('a command that makes more and more processes is ended, with all of them', async () => {
    using dir = makeTempDir();
    const cwd = realpathSync(dir.path);
    const seconds = uniqueSeconds();
    const processes = testProcesses(cwd, {}, { bounds: { ...roomy, processes: few } });
    const { exit } = await runIn(processes, bomb(seconds), cwd, confine(kind, cwd));
    expect(exit).toMatchObject({ code: 137, signal: 'SIGKILL', excess: { resource: 'processes', limit: few } });
    expect(survivors(String(seconds))).toEqual([]);
  });

  test.skipIf(missing('python3'))(
    'a command that takes more and more memory is ended, whichever of its processes takes it (needs python3)',
    async () => {
      using dir = makeTempDir();
      const cwd = realpathSync(dir.path);
      const seconds = uniqueSeconds();
      const processes = testProcesses(cwd, {}, { bounds: { ...roomy, memoryBytes: 100 * mb } });
      const hoard = `python3 -c 'x = b"x" * (60 << 20); import time; time.sleep(${seconds})'`;
      const { exit } = await runIn(processes, `${hoard} & ${hoard} & wait`, cwd, confine(kind, cwd));
      expect(exit).toMatchObject({ code: 137, signal: 'SIGKILL', excess: { resource: 'memoryBytes', limit: 100 * mb } });
      expect(survivors(String(seconds))).toEqual([]);
    },
  );

  test.skipIf(missing('python3'))('memory that is hidden in a file without a name counts, too (needs python3)', async () => {
    using dir = makeTempDir();
    const cwd = realpathSync(dir.path);
    const processes = testProcesses(cwd, {}, { bounds: { ...roomy, memoryBytes: 100 * mb } });
    const hide = 'import os, time\nf = os.memfd_create("x")\nfor _ in range(200): os.write(f, bytes(1 << 20))\ntime.sleep(1000)';
    const { exit } = await runIn(processes, `python3 -c '${hide}'`, cwd, confine(kind, cwd));
    expect(exit).toMatchObject({ code: 137, excess: { resource: 'memoryBytes' } });
  });

  test.skipIf(missing('python3'))(
    'memory that processes share counts once, and memory that is only reserved does not (needs python3)',
    async () => {
      using dir = makeTempDir();
      const cwd = realpathSync(dir.path);
      const processes = testProcesses(cwd, {}, { bounds: { ...roomy, memoryBytes: 150 * mb } });
      const share =
        'import mmap, os, time\nx = b"x" * (60 << 20)\ny = mmap.mmap(-1, 1 << 30)\nfor _ in range(4):\n  os.fork() or (time.sleep(1), os._exit(0))\nfor _ in range(4): os.wait()\nprint("fits")';
      const { exit, output } = await runIn(processes, `python3 -c '${share}'`, cwd, confine(kind, cwd));
      expect({ output, exit }).toMatchObject({ output: 'fits\n', exit: { code: 0, excess: undefined } });
    },
  );
});

test.skipIf(missing('bwrap'))(
  'while a sandbox is being made, the other processes of the machine are not taken for its own (needs bwrap)',
  async () => {
    const machine = readdirSync('/proc').filter((name) => /^\d+$/.test(name)).length;
    expect(machine).toBeGreaterThan(3);
    // Bubblewrap waits for a byte before it mounts anything.
    const waiting = [
      '--unshare-user',
      '--unshare-pid',
      '--userns-block-fd',
      '3',
      '--info-fd',
      '4',
      '--ro-bind',
      '/',
      '/',
      '--proc',
      '/proc',
      '--',
      'true',
    ];
    const making = spawn('bwrap', waiting, { stdio: ['ignore', 'ignore', 'inherit', 'pipe', 'pipe'] });
    const greedy = spawn('sh', ['-c', 'sleep 1000 & sleep 1000 & sleep 1000 & wait'], { detached: true, stdio: 'ignore' });
    try {
      await expect.poll(() => namespaceInit(making.pid ?? 0), { timeout: 20_000 }).toBeDefined();
      const watch = createResourceWatch();
      const told: string[] = [];
      const bounds = { ...roomy, processes: 3 };
      watch({ pid: making.pid ?? 0, startTime: 0, namespaced: true, bounds, onExcess: () => void told.push('making') });
      // It is looked at after the other one, in the same round.
      await new Promise<void>((resolve) => {
        watch({ pid: greedy.pid ?? 0, startTime: 0, namespaced: true, bounds: { ...roomy, processes: 0 }, onExcess: () => resolve() });
      });
      expect(told).toEqual([]);
    } finally {
      const over = Promise.all([once(making, 'exit'), once(greedy, 'exit')]);
      // The process that waits outlives bubblewrap as long as nothing is mounted.
      const init = namespaceInit(making.pid ?? 0);
      if (init !== undefined) process.kill(init, 'SIGKILL');
      making.kill('SIGKILL');
      process.kill(-(greedy.pid ?? 0), 'SIGKILL');
      await over;
    }
  },
);
