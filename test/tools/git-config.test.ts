import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { isHarmlessGitConfig } from '../../src/tools/git-config.js';
import { makeTempDir } from '../support/temp-dir.js';

test('what git itself writes for a new repository is harmless', () => {
  using dir = makeTempDir();
  const git = (...args: string[]): unknown =>
    execFileSync('git', args, { cwd: dir.path, env: { PATH: process.env.PATH, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' } });
  git('init', '-q', '-b', 'master', '.');
  git('config', 'user.name', 'A Person');
  git('config', 'user.email', 'a@example.com');
  git('commit', '-q', '--allow-empty', '-m', 'x');
  git('remote', 'add', 'origin', 'git@example.com:a/b.git');
  git('remote', 'add', 'other', 'https://example.com/a/b.git');
  git('checkout', '-q', '-b', 'feature/x', '--track', 'master');
  git('clone', '-q', '.', 'copy');
  for (const path of ['.git/config', 'copy/.git/config']) expect(isHarmlessGitConfig(readFileSync(dir.file(path), 'utf8'))).toBe(true);
});

test.each([
  '[remote "origin"]\n\turl = ssh://git@example.com:22/a/b\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n',
  '[remote "origin"]\r\n\turl = ../b\r\n',
  '[submodule "lib"]\n\tactive = true\n\turl = /srv/lib\n',
  '[core]\n\tRepositoryFormatVersion = 1\n[extensions]\n\tobjectFormat = sha256\n\trefStorage = reftable\n',
  '# nothing\n; at all\n\n',
])('is harmless: %j', (text) => {
  expect(isHarmlessGitConfig(text)).toBe(true);
});

test.each([
  '[remote "x"]\n\turl = ext::sh -c evil\n',
  '[remote "x"]\n\turl = evil://example.com\n',
  '[remote "x"]\n\turl = ssh://-oProxyCommand=evil/x\n',
  '[remote "x"]\n\turl = -evil\n',
  '[remote "x"]\n\tuploadpack = evil\n',
  '[branch "x"]\n\tremote = ext::evil\n',
  '[submodule "x"]\n\turl = ext::evil\n',
  '[submodule "x"]\n\tupdate = !evil\n',
  '[protocol "ext"]\n\tallow = always\n',
  '[interactive]\n\tdiffFilter = evil\n',
  '[gc]\n\trecentObjectsHook = evil\n',
  '[difftool "x"]\n\tcmd = evil\n',
  '[core]\n\tfsmonitor = evil\n',
  '[core]\n\tworktree = /\n',
  '[core] fsmonitor = evil\n',
  '[core]\n\tbare = false \\\n\tfsmonitor = evil\n',
  '[user]\n\tname = a\\\n[core]\n',
  '[include]\n\tpath = evil\n',
  '[core.x]\n\tbare = true\n',
  '[constructor]\n\tname = x\n',
  'bare = true\n',
  '[core\n',
  '\0',
])('is not harmless: %j', (text) => {
  expect(isHarmlessGitConfig(text)).toBe(false);
});
