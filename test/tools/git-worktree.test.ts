import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createPolicy } from '../../src/policy/judge.js';
import type { Mode, Rule } from '../../src/policy/port.js';
import { createBashTool } from '../../src/tools/shell/bash.js';
import type { Confinement } from '../../src/sandbox/port.js';
import { missing } from '../needs.js';
import { childPath, testProcesses } from '../support/commands.js';
import { callTool, toolContext, type Said } from '../support/tool-context.js';

let root: string;
let workspace: string;
/** The git directory that the worktree shares. Not below /tmp, which a sandbox has of its own. */
let shared: string;

beforeEach(() => {
  root = realpathSync(mkdtempSync('/var/tmp/berth-worktree-'));
  workspace = join(root, 'wt');
  shared = join(root, 'repo', '.git');
  mkdirSync(join(root, 'repo'));
  mkdirSync(join(root, 'home'));
  git(
    join(root, 'repo'),
    'git init -q -b main . && git config user.name Ada && git config user.email ada@example.org && echo one > a && git add a && git commit -qm one && git worktree add -q ../wt -b topic',
  );
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function git(cwd: string, script: string): string {
  return execFileSync('bash', ['--norc', '-c', script], {
    cwd,
    env: { PATH: childPath, GIT_CONFIG_GLOBAL: '/dev/null' },
    encoding: 'utf8',
  }).trim();
}

function judge({ mode = 'auto_edit', rules = [], home = 'home' }: { mode?: Mode; rules?: Rule[]; home?: string } = {}) {
  const settings = () => ({ noSandbox: undefined, network: false, writable: [], own: [] });
  const policy = createPolicy({ home: join(root, home), umask: 0o022, settings });
  return policy.judge({
    toolName: 'bash',
    readOnly: false,
    mode,
    cwd: workspace,
    rules: rules.map((rule) => ({ ...rule, source: 'test' })),
    accesses: [{ kind: 'command', command: 'true', network: false, unsandboxed: false }],
  }).reach;
}

function run(command: string): Promise<Said> {
  const bash = createBashTool({ processes: testProcesses(join(root, 'home')) });
  return callTool(bash, { command: `export GIT_CONFIG_GLOBAL=/dev/null\n${command}` }, toolContext({ cwd: workspace, reach: judge() }));
}

const gitWritable = (confinement: Confinement): string[] => confinement.gitWritable ?? [];

describe.skipIf(missing('bwrap'))('in a session whose directory was made with git worktree add (needs bwrap)', () => {
  test('commands commit, branch and stash as they would outside', async () => {
    const steps = [
      'echo two > b && git add b && git commit -qm two && git log --oneline | wc -l',
      'git checkout -qb other && echo three >> b && git stash -q && git stash pop -q && git commit -qam three && git checkout -q topic',
      'git merge -q other && git commit -q --amend -m four && git rebase -q main && git tag done && git status --short',
    ];
    for (const step of steps) expect(await run(step)).toMatchObject({ isError: false });
    expect(git(join(root, 'repo'), 'git log -1 --format=%s topic; git rev-parse --verify -q done >/dev/null && echo tagged')).toBe(
      'four\ntagged',
    );
    expect(git(workspace, 'git status --short; git fsck --no-progress 2>&1; git reflog | wc -l')).not.toBe('');
  });

  test.each([
    'echo "#!/bin/sh" > REPO/hooks/pre-commit',
    'git config core.hooksPath /tmp',
    'echo x >> REPO/config',
    'echo x > REPO/info/attributes',
    'echo /tmp > REPO/worktrees/wt/commondir',
    'mv REPO/worktrees/wt/commondir REPO/worktrees/wt/away',
    'echo x > REPO/worktrees/wt/gitdir',
    'mkdir REPO/worktrees/mine',
    'echo x > REPO/HEAD',
    'echo x > REPO/../a',
  ])('what would run code later, or belongs to others, stays as it is: %s', async (command) => {
    const before = picture();
    expect(await run(command.replaceAll('REPO', shared))).toMatchObject({ isError: true });
    expect(picture()).toEqual(before);
  });
});

function picture(): unknown {
  const files = ['config', 'HEAD', 'worktrees/wt/commondir', 'worktrees/wt/gitdir'].map((name) => readFileSync(join(shared, name), 'utf8'));
  return [files, ['hooks/pre-commit', 'info/attributes', 'worktrees/mine'].map((name) => existsSync(join(shared, name)))];
}

describe('a .git file gives a workspace nothing', () => {
  const own = (): string => join(shared, 'worktrees', 'wt');

  test('unless the repository says that this is its worktree', () => {
    expect(gitWritable(judge().confinement)).toEqual([own(), join(shared, 'objects'), join(shared, 'refs'), join(shared, 'logs')]);
    writeFileSync(join(own(), 'gitdir'), `${join(root, 'elsewhere', '.git')}\n`);
    expect(gitWritable(judge().confinement)).toEqual([]);
  });

  test.each<[string, () => void]>([
    [
      'it names the worktree of somebody else',
      () => git(join(root, 'repo'), `git worktree add -q ../other && cp ../other/.git ${workspace}/.git`),
    ],
    [
      'it is a link',
      () => {
        rmSync(join(workspace, '.git'));
        symlinkSync(join(root, 'home'), join(workspace, '.git'));
      },
    ],
    ['it names the repository itself', () => writeFileSync(join(workspace, '.git'), `gitdir: ${shared}\n`)],
    ['the repository is elsewhere', () => writeFileSync(join(own(), 'commondir'), `${join(root, 'home')}\n`)],
  ])('when %s', (_, change) => {
    change();
    expect(gitWritable(judge().confinement)).toEqual([]);
  });

  test('when nothing may be written, a rule denies it, or the repository holds secrets', () => {
    expect(gitWritable(judge({ mode: 'read_only' }).confinement)).toEqual([]);
    for (const tool of ['read', 'write'])
      expect(gitWritable(judge({ rules: [{ tool, path: join(root, 'repo'), action: 'deny' }] }).confinement)).toEqual([]);
    rmSync(workspace, { recursive: true });
    git(
      root,
      `mkdir -p home && mv repo home/.password-store && cd home/.password-store && git worktree prune && git worktree add -q ../../wt`,
    );
    expect(gitWritable(judge().confinement)).toEqual([]);
  });

  test('for file tools: they stay in the workspace', () => {
    expect(judge().refuses('write', join(shared, 'refs', 'heads', 'main'))).toBeDefined();
  });
});
