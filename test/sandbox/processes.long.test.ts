import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { toChildEnv } from '../../src/sandbox/child-env.js';
import { createProcesses, type ProcessRow } from '../../src/sandbox/processes.js';
import { missing } from '../needs.js';
import { confine, follow, memoryLedger, randomId, roomy, runIn, survivors, testProcesses, uniqueSeconds } from '../support/commands.js';
import { makeTempDir } from '../support/temp-dir.js';

const kinds = missing('bwrap') ? (['bare'] as const) : (['sandbox', 'namespace', 'bare'] as const);
test.skipIf(missing('bwrap'))('all three kinds are looked at (needs bwrap)', () => expect(kinds).toHaveLength(3));

const secrets = {
  OPENAI_API_KEY: 'canary',
  ANTHROPIC_AUTH_TOKEN: 'canary',
  AWS_SECRET_ACCESS_KEY: 'canary',
  GH_TOKEN: 'canary',
  SSH_AUTH_SOCK: '/canary',
  DBUS_SESSION_BUS_ADDRESS: 'canary',
  XDG_RUNTIME_DIR: '/canary',
  NOTIFY_SOCKET: 'canary',
  LISTEN_FDS: '3canary',
  NODE_OPTIONS: '--require canary',
  LD_PRELOAD: '/canary.so',
  BASH_ENV: '/canary',
  ENV: '/canary',
  PROMPT_COMMAND: 'canary',
  BERTH_SOCKET: '/canary',
  'BASH_FUNC_ls%%': '() { echo canary; }',
  GIT_SSH_COMMAND: 'canary',
  PYTHONSTARTUP: 'canary',
};

describe.for(kinds)('%s', (kind) => {
  test('only what is allowed is in the environment', async () => {
    using dir = makeTempDir();
    const cwd = realpathSync(dir.path);
    const processes = testProcesses('/home/somebody', { ...secrets, USER: 'somebody', LC_TIME: 'C', TZ: 'UTC' });
    const { output } = await runIn(processes, 'env', cwd, confine(kind, cwd));
    expect(output).not.toContain('canary');
    const names = output
      .trim()
      .split('\n')
      .map((line) => line.split('=')[0])
      .sort();
    const own = ['BERTH_CALL', 'DEBIAN_FRONTEND', 'GIT_EDITOR', 'GIT_PAGER', 'GIT_TERMINAL_PROMPT', 'HOME', 'LANG', 'LC_TIME', 'NO_COLOR'];
    const others = ['PAGER', 'PATH', 'PWD', 'SHLVL', 'TERM', ...(kind === 'sandbox' ? ['TMPDIR'] : []), 'TZ', 'USER', '_'];
    expect(names).toEqual([...own, ...others].sort());
    expect(output).toContain('HOME=/home/somebody\n');
  });

  test('there are three descriptors and no terminal, and nobody to read from', async () => {
    using dir = makeTempDir();
    const cwd = realpathSync(dir.path);
    const { output, exit } = await runIn(
      testProcesses(cwd),
      'ls /proc/$$/fd; readlink /proc/$$/fd/0; cat; read x; echo $?; tty; (: </dev/tty) 2>&1 | grep -c "No such device"; ps -o tty= -p $$',
      cwd,
      confine(kind, cwd),
    );
    expect(output).toBe('0\n1\n2\n/dev/null\n1\nnot a tty\n1\n?\n');
    expect(exit).toMatchObject({ code: 0, signal: null });
  });

  test('both outputs come in the order in which they were written, and can be opened by name', async () => {
    using dir = makeTempDir();
    const cwd = realpathSync(dir.path);
    const lines = Array.from({ length: 100 }, (_, i) => `${i}\n`).join('');
    const command =
      'for i in {0..99}; do case $((i % 4)) in 0) echo $i;; 1) echo $i >&2;; 2) echo $i >/dev/stderr;; 3) echo $i | tee /dev/stderr >/dev/null;; esac; done';
    expect((await runIn(testProcesses(cwd), command, cwd, confine(kind, cwd))).output).toBe(lines);
  });

  test.for([
    ['true', 0, null],
    ['exit 3', 3, null],
    ['exit 255', 255, null],
    ['false', 1, null],
    ['nonesuch-program', 127, null],
    ['/etc/passwd', 126, null],
    ['kill -TERM $$', 143, 'SIGTERM'],
    ['kill -KILL $$', 137, 'SIGKILL'],
    ['kill -INT $$', 130, 'SIGINT'],
    ['kill -SEGV $$', 139, 'SIGSEGV'],
    ["trap 'exit 9' TERM; kill -TERM $$", 9, null],
    ['if then', 2, null],
  ] as const)('%s ends with %i', async ([command, code, signal]) => {
    using dir = makeTempDir();
    const cwd = realpathSync(dir.path);
    expect((await runIn(testProcesses(cwd), command, cwd, confine(kind, cwd))).exit).toMatchObject({ code, signal });
  });

  test('the kernel takes memory from it first, others have the processor before it, and there are no core files', async () => {
    using dir = makeTempDir();
    const cwd = realpathSync(dir.path);
    const { output } = await runIn(testProcesses(cwd), 'cat /proc/self/oom_score_adj; nice; ulimit -c', cwd, confine(kind, cwd));
    expect(output).toBe('1000\n5\n0\n');
  });

  test('what it changes of its own surroundings is gone for the next one', async () => {
    using dir = makeTempDir();
    const cwd = realpathSync(dir.path);
    const processes = testProcesses(cwd);
    await runIn(processes, 'export PATH=/evil; alias ls=evil; cd /; umask 0; ulimit -f 1; set -e', cwd, confine(kind, cwd));
    const { output } = await runIn(processes, 'echo $PATH; pwd; ulimit -f', cwd, confine(kind, cwd));
    expect(output).toBe(`/usr/local/bin:/usr/bin:/bin\n${cwd}\nunlimited\n`);
  });

  test('a run, a session or all of them end together, and each is forgotten', async () => {
    using dir = makeTempDir();
    const cwd = realpathSync(dir.path);
    const ledger = memoryLedger();
    const processes = testProcesses(cwd, {}, { ledger });
    const seconds = uniqueSeconds();
    const begin = async (runId: string) => {
      const followed = await follow(processes, `setsid -f sleep ${seconds}; echo up; sleep ${seconds}`, cwd, confine(kind, cwd), { runId });
      await followed.until('up');
      return followed;
    };
    const [runId, other] = [randomId('run'), randomId('run')];
    const [first, second, third] = [await begin(runId), await begin(runId), await begin(other)];
    expect(ledger.rows).toHaveLength(3);
    expect(new Set(ledger.rows.map(({ marker }) => marker)).size).toBe(3);
    let told = 0;
    processes.onRunEnd(runId, async () => {
      told++;
    });
    await processes.killRun(runId);
    expect([told, ledger.rows.map(({ pid }) => pid), processes.running()]).toEqual([1, [third.command.pid], [third.command]]);
    await processes.killSession(ledger.rows[0]!.sessionId);
    expect(ledger.rows).toEqual([]);
    await begin(other);
    await processes.killAll();
    expect([ledger.rows, processes.running(), survivors(String(seconds)), told]).toEqual([[], [], [], 1]);
    expect((await first.command.exited).code).toBe((await second.command.exited).code);
  });

  test('killing twice, or what has ended, is fine', async () => {
    using dir = makeTempDir();
    const cwd = realpathSync(dir.path);
    const { command } = await follow(testProcesses(cwd), 'true', cwd, confine(kind, cwd));
    await command.exited;
    await Promise.all([command.kill(), command.kill()]);
    expect(await command.exited).toMatchObject({ code: 0, signal: null });
  });

  test('one that is killed before it has begun does not begin', async () => {
    using dir = makeTempDir();
    const cwd = realpathSync(dir.path);
    const processes = testProcesses(cwd);
    const seconds = uniqueSeconds();
    await Promise.all(
      Array.from({ length: 20 }, async () => {
        const { command } = await follow(processes, `setsid -f sleep ${seconds}; sleep ${seconds}`, cwd, confine(kind, cwd));
        await command.kill();
      }),
    );
    expect(survivors(String(seconds))).toEqual([]);
  });

  test('a command that cannot be noted does not run on', async () => {
    using dir = makeTempDir();
    const cwd = realpathSync(dir.path);
    const seconds = uniqueSeconds();
    const full = {
      ...memoryLedger(),
      note(): void {
        throw new Error('the disk is full');
      },
    };
    await expect(runIn(testProcesses(cwd, {}, { ledger: full }), `sleep ${seconds}`, cwd, confine(kind, cwd))).rejects.toThrow(
      'the disk is full',
    );
    expect(survivors(String(seconds))).toEqual([]);
  });
});

test('a command without a namespace does not begin before the ledger has its process', async () => {
  using dir = makeTempDir();
  const cwd = realpathSync(dir.path);
  const ran = join(cwd, 'ran');
  const states: string[] = [];
  const ledger = memoryLedger();
  const note = (row: ProcessRow): void => {
    // Until it waits for something, or is over: without its line it can do neither anything else nor more.
    let state = 'R';
    while (!/[SZ]/.test(state)) state = /\) (\w) /.exec(readFileSync(`/proc/${row.pid}/stat`, 'latin1'))?.[1] ?? '';
    states.push(state, String(existsSync(ran)));
    ledger.note(row);
  };
  const { exit } = await runIn(testProcesses(cwd, {}, { ledger: { ...ledger, note } }), `touch ${ran}`, cwd, confine('bare', cwd));
  expect([states, exit.code, existsSync(ran)]).toEqual([['S', 'false'], 0, true]);
});

test('a child that holds the output does not keep a call open', async () => {
  using dir = makeTempDir();
  const cwd = realpathSync(dir.path);
  for (const kind of kinds) {
    const seconds = uniqueSeconds();
    const { output, exit } = await runIn(testProcesses(cwd), `sleep ${seconds} & echo over`, cwd, confine(kind, cwd));
    expect([output, exit.code, survivors(String(seconds))]).toEqual(['over\n', 0, []]);
  }
});

test('entries of PATH that are relative, empty or in a workspace are dropped', () => {
  const confinement = confine('sandbox', '/home/a/work', { writable: ['/home/a/work', '/srv/other'] });
  const path = (text: string) => toChildEnv({ PATH: text }, { home: '/home/a', cwd: '/home/a/work/sub', confinement }).PATH;
  expect(path('.:/usr/bin::bin:/home/a/work/node_modules/.bin:/srv/other:/home/a/worker/bin:./x:~/bin')).toBe(
    '/usr/bin:/home/a/worker/bin',
  );
  expect(path('')).toBe('/usr/local/bin:/usr/bin:/bin');
  expect(path('.:/home/a/work')).toBe('/usr/local/bin:/usr/bin:/bin');
});

test('a sandbox that is killed before it is set up leaves nobody, whoever still holds its pipe', async () => {
  using dir = makeTempDir();
  const cwd = realpathSync(dir.path);
  const seconds = uniqueSeconds();
  // Neither its child that is not the first one nor the child's standard error ends with it.
  const path = dir.file('bwrap');
  writeFileSync(path, `#!/bin/sh\nsleep ${seconds} & sleep ${seconds} &\necho up\nexec sleep ${seconds}\n`, { mode: 0o755 });
  const bubblewrap = () => ({ path, disablesUserns: false, bindsDescriptors: false });
  const { command, until } = await follow(testProcesses(cwd, {}, { bubblewrap }), 'true', cwd, confine('namespace', cwd));
  await until('up');
  await command.kill();
  expect(survivors(String(seconds))).toEqual([]);
});

test('without a sandbox nothing is started in one', async () => {
  using dir = makeTempDir();
  const cwd = realpathSync(dir.path);
  const processes = createProcesses({
    ledger: memoryLedger(),
    bubblewrap: () => ({ missing: 'it is not there.' }),
    env: {},
    home: cwd,
    umask: 0o022,
    bounds: () => roomy,
  });
  for (const kind of ['sandbox', 'namespace'] as const)
    await expect(runIn(processes, 'echo ran', cwd, confine(kind, cwd))).rejects.toThrow(
      'There is no sandbox to run the command in: it is not there.',
    );
  expect(processes.running()).toEqual([]);
});

test('what is too long, or has nowhere to run, is said', async () => {
  using dir = makeTempDir();
  const cwd = realpathSync(dir.path);
  mkdirSync(join(cwd, 'sub'));
  const processes = testProcesses(cwd);
  await expect(runIn(processes, `: ${'x'.repeat(200_000)}`, cwd, confine('bare', cwd))).rejects.toThrow(/too long \(E2BIG\)/);
  await expect(runIn(processes, 'true', join(cwd, 'gone'), confine('bare', cwd))).rejects.toThrow(/could not be started/);
  expect(processes.running()).toEqual([]);
});
