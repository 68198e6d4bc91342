import { execFileSync } from 'node:child_process';
import {
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createPolicy } from '../../src/policy/judge.js';
import { createBashTool } from '../../src/tools/shell/bash.js';
import { missing } from '../needs.js';
import { childPath, testProcesses } from '../support/commands.js';
import { callTool, toolContext, type Said } from '../support/tool-context.js';

/** The same commits have the same ids, and nothing of the machine's settings counts. */
const settled = `export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_DATE='2020-01-01T00:00:00Z' GIT_COMMITTER_DATE='2020-01-01T00:00:00Z'
export GIT_EDITOR=true GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=protocol.file.allow GIT_CONFIG_VALUE_0=always`;

/**
 * A repository with what agents follow and programs run in it, branches that differ in that, and an upstream that is ahead. Upstream is a
 * directory in the workspace, because commands see no other one below the real /tmp.
 */
const makeRepository = `set -e
git init -q -b main .
git config user.name Ada; git config user.email ada@example.org
echo /up >> .git/info/exclude
mkdir src .vscode up; echo one > src/a.txt; echo rules > CLAUDE.md; echo env > .envrc; echo '{}' > .vscode/settings.json
git add -A; git commit -qm first
git checkout -qb guided; echo other rules > CLAUDE.md; echo new > AGENTS.md; echo two > src/b.txt; git add -A; git commit -qm guided
git checkout -q main; git checkout -qb env; echo other env > .envrc; echo '{"a":1}' > .vscode/settings.json; git commit -qam env
git checkout -q main; git checkout -qb topic; echo topic > src/c.txt; echo topic rules > GEMINI.md; git add -A; git commit -qm topic
git checkout -q main; echo three >> src/a.txt; git commit -qam second
git clone -q --bare . up/origin.git; git clone -q up/origin.git up/other
cd up/other; git config user.name Bob; git config user.email bob@example.org
echo pulled > CLAUDE.md; echo theirs > .cursorrules; git add -A; git commit -qm theirs; git push -q origin main
git clone -q --bare . ../lib.git; cd ../..; rm -rf up/other
git remote add origin "$PWD/up/origin.git"`;

let root: string;
let workspace: string;
beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'berth-git-')));
  workspace = join(root, 'work');
  mkdirSync(workspace);
  outside(makeRepository);
  cpSync(workspace, join(root, 'pattern'), { recursive: true, verbatimSymlinks: true });
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

function renew(): void {
  rmSync(workspace, { recursive: true, force: true });
  cpSync(join(root, 'pattern'), workspace, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  // Git knows files by their inodes.
  outside('git update-index -q --refresh');
}
beforeEach(renew);

function outside(script: string): string {
  return execFileSync('bash', ['--norc', '-c', `${settled}\n${script}`], { cwd: workspace, env: { PATH: childPath }, encoding: 'utf8' });
}

/** Through the tool and the policy's sandbox, one call for each step. */
async function inside(steps: readonly string[]): Promise<Said[]> {
  const home = join(root, 'home');
  const settings = () => ({ noSandbox: undefined, network: false, writable: [], own: [] });
  const policy = createPolicy({ home, umask: 0o022, settings });
  const bash = createBashTool({ processes: testProcesses(home) });
  const said: Said[] = [];
  for (const step of steps) {
    const command = { kind: 'command' as const, command: 'true', network: false, unsandboxed: false };
    const call = { toolName: 'bash', args: {}, readOnly: false, mode: 'auto_edit' as const, cwd: workspace, rules: [] };
    const { reach } = policy.judge({ ...call, accesses: [command] });
    said.push(await callTool(bash, { command: `${settled}\n${step}` }, toolContext({ cwd: workspace, reach })));
  }
  return said;
}

/** All that ordinary work with git is about. */
function picture(): unknown {
  const git = (args: string): string => outside(`git ${args}`);
  return {
    head: git('rev-parse HEAD') + git('rev-parse --abbrev-ref HEAD'),
    status: git('status --porcelain'),
    refs: git('for-each-ref --format="%(refname) %(objectname)"'),
    stashes: git('stash list'),
    config: git('config --local --list'),
    worktrees: git('worktree list --porcelain'),
    submodules: git('submodule status'),
    hooks: readdirSync(join(workspace, '.git', 'hooks')).sort(),
    exclude: readFileSync(join(workspace, '.git', 'info', 'exclude'), 'utf8'),
    files: filesIn(workspace),
  };
}

function filesIn(folder: string): string[] {
  return readdirSync(folder)
    .sort()
    .filter((name) => name !== '.git' || !lstatSync(join(folder, name)).isDirectory())
    .filter((name) => name !== 'up')
    .flatMap((name) => {
      const path = join(folder, name);
      const stat = lstatSync(path);
      if (stat.isDirectory()) return filesIn(path);
      return [`${path} ${stat.mode} ${stat.isSymbolicLink() ? readlinkSync(path) : readFileSync(path, 'utf8')}`];
    });
}

const work: Record<string, string[]> = {
  'a worktree, and a commit in it': [
    'git worktree add -q wt -b feature',
    'cd wt && echo x > x.txt && echo more > AGENTS.md && git add -A && git commit -qm x',
    'git worktree add -q wt2 guided && git worktree list',
    'git worktree move wt2 wt3 && git worktree remove wt3 && git worktree prune',
  ],
  'a branch with other instructions, and a commit on it': [
    'git checkout -q guided',
    'echo more >> src/b.txt; git commit -qam more',
    'git checkout -q main && git switch -q -c next && git checkout -q guided -- CLAUDE.md && git commit -qm taken',
  ],
  'a merge that brings instructions': ['git merge -q --no-edit guided', 'git merge -q --no-edit topic', 'git add -A; git status --short'],
  'a merge with a conflict in instructions': [
    'echo mine > CLAUDE.md; git commit -qam mine',
    'git merge guided || true',
    'git checkout --theirs CLAUDE.md && git add -A && git commit -qm merged',
  ],
  'a rebase': ['git rebase -q main topic', 'git rebase -q --onto guided main~1 topic'],
  'a cherry-pick, a revert and a reset': ['git cherry-pick guided', 'git revert --no-edit HEAD', 'git reset -q --hard HEAD~1'],
  'a stash': [
    'echo changed > CLAUDE.md; echo new > AGENTS.md; git stash -q -u',
    'git checkout -q topic && git stash pop -q',
    'git stash -q; git stash list',
  ],
  'a pull and a push': [
    'git fetch -q && git branch -q -u origin/main',
    'git pull -q --no-rebase --no-edit',
    'git push -q origin HEAD:refs/heads/pushed && git fetch -q',
  ],
  'settings and remotes': [
    'git config user.name Eve && git config --unset user.email && git config core.hooksPath .husky',
    'git remote add second ../second.git && git remote rename second third && git remote remove origin',
    'git config user.email eve@example.org && git commit -q --allow-empty -m hers',
  ],
  'a clone in the workspace': ['git clone -q up/lib.git lib', 'cd lib && git log --oneline && cat CLAUDE.md && git checkout -q -b mine'],
  'a submodule': [
    'git submodule --quiet add "$PWD/up/lib.git" lib && git commit -qm lib',
    'git submodule --quiet deinit -f lib && git submodule --quiet update --init',
    'cd lib && git checkout -q HEAD~1 && cd .. && git commit -qam older && git submodule --quiet update',
    'git submodule --quiet sync && git -C lib config user.name Eve',
  ],
  'a sparse checkout': ['git sparse-checkout set src .vscode', 'git sparse-checkout list; git sparse-checkout disable'],
  'a bisection': ['git bisect start -q HEAD HEAD~1', 'git bisect run true; git bisect log', 'git bisect reset'],
  'tags, notes, cleaning up': [
    'git tag v1 && git notes add -m note && git gc -q',
    'echo x > scratch; git clean -fdq; git reflog | head -1',
  ],
};

describe.skipIf(missing('bwrap'))('in the sandbox, as outside of it (needs bwrap)', () => {
  test.each(Object.keys(work))('%s', { timeout: 60_000 }, async (name) => {
    const steps = work[name] ?? [];
    for (const step of steps) outside(step);
    const expected = picture();
    renew();
    const said = await inside(steps);
    expect(said.filter(({ isError, text }) => isError || text.includes('read-only')).map(({ text }) => text)).toEqual([]);
    expect(picture()).toEqual(expected);
  });
});

describe.skipIf(missing('bwrap'))('a call (needs bwrap)', () => {
  test('says which files came that programs run or agents follow, and leaves them', async () => {
    const appeared = (names: string): string =>
      `[while the command ran, ${names} appeared or changed, which programs run or agents follow later without asking: tell the person]`;
    const [first, second, third, fourth] = await inside([
      'git checkout -q guided',
      'echo x > .mcp.json; mkdir -p sub .husky; echo x > sub/.envrc; echo x > .husky/pre-commit',
      'git status --short; echo again > AGENTS.md',
      'git init -q new; cd new; rm -rf .git/hooks; mkdir .git/hooks; echo evil > .git/hooks/post-checkout',
    ]);
    expect(first?.text).toContain(appeared('AGENTS.md'));
    expect(second?.text).toContain(appeared('.husky, .mcp.json, sub/.envrc'));
    expect(third?.text).not.toContain('appeared');
    expect(third?.text).toContain('?? .mcp.json');
    expect(fourth?.text).toContain(appeared('new/.git/hooks'));
  });

  test('that cannot write a hook says so', async () => {
    const before = picture();
    const said = await inside([
      'printf "#!/bin/sh\\n" > .git/hooks/pre-commit',
      'cp src/a.txt .git/hooks/pre-commit || true',
      `python3 -c 'open(".git/hooks/pre-push", "w")'`,
      'mv .git/hooks .git/old || true; rm -rf .git/hooks; true',
    ]);
    for (const { text } of said)
      expect(text).toContain('[read-only for commands, because programs run it later or a rule says so: .git/hooks. ');
    expect(picture()).toEqual(before);
  });

  test('that leaves a branch half checked out says so, whatever the exit code', async () => {
    const [checkout] = await inside(['git checkout -q env']);
    expect(checkout?.text).toContain('[exit code 0]');
    expect(checkout?.text).toContain('read-only for commands, because programs run it later or a rule says so: .envrc, .vscode. ');
    expect(checkout?.text).toContain('compare git status before a commit');
  });

  test.each(['git sparse-checkout set src', 'git rm -rq .vscode', 'git stash -q -- .vscode', 'git checkout -q env -- .envrc || true'])(
    'says so after %s',
    async (command) => {
      if (command.includes('stash')) writeFileSync(join(workspace, '.vscode', 'settings.json'), 'changed');
      const [said] = await inside([command]);
      expect(said?.text).toContain('read-only');
    },
  );

  test('cannot write where the config says that hooks are, and the config can be written', async () => {
    const [, refused] = await inside([
      'mkdir -p tools/hooks && git config core.hooksPath "tools/hooks" # mine',
      'echo evil > tools/hooks/pre-commit',
      'git config --unset core.hooksPath',
      'echo fine > tools/hooks/pre-commit',
    ]);
    expect(refused?.text).toContain('read-only for commands, because programs run it later or a rule says so: tools/hooks. ');
    expect(readFileSync(join(workspace, 'tools/hooks/pre-commit'), 'utf8')).toBe('fine\n');
  });

  test('is not told of a workspace that names itself for hooks: it stays writable', async () => {
    writeFileSync(join(workspace, '.git', 'config'), '[core] hooksPath = .\n');
    const [said] = await inside(['echo x > made']);
    expect(said?.text).toBe('[exit code 0]');
  });
});
