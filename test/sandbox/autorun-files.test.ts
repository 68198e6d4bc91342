import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { expect, test } from 'vitest';
import { autorunKind } from '../../src/policy/guarded-paths.js';
import { limits } from '../../src/protocol/limits.js';
import { scanAutorun, type AutorunScan } from '../../src/sandbox/autorun/autorun-files.js';
import { hooksPathIn } from '../../src/sandbox/autorun/git-hooks-path.js';
import { makeTempDir, type TempDir } from '../support/temp-dir.js';

interface Place extends TempDir {
  put(path: string, text?: string): void;
  look(): Promise<AutorunScan>;
  readOnly(): Promise<string[]>;
  /** What is told after something was done that a command could do. */
  during(act: () => unknown): Promise<string[]>;
}

function makePlace(): Place {
  const dir = makeTempDir();
  const look = (): Promise<AutorunScan> =>
    scanAutorun([dir.path], (folder, name) => autorunKind(folder, name, { home: '/nowhere', own: [] }));
  const told = (paths: string[]): string[] => paths.map((path) => relative(dir.path, path)).sort();
  return {
    path: dir.path,
    file: dir.file,
    put(path, text = '') {
      mkdirSync(dirname(dir.file(path)), { recursive: true });
      writeFileSync(dir.file(path), text);
    },
    look,
    readOnly: async () => told((await look()).readOnly),
    async during(act) {
      const before = await look();
      await act();
      return told(await before.findNew());
    },
    [Symbol.dispose]: () => dir[Symbol.dispose](),
  };
}

function putRepository(place: Place, at: string): void {
  for (const path of ['HEAD', 'objects/x', 'refs/x', 'hooks/pre-commit.sample', 'config']) place.put(`${at}/${path}`);
}

test('existing files are read-only wherever they are, and instructions are not', async () => {
  using place = makePlace();
  for (const path of ['.envrc', 'a/b/.vscode/tasks.json', 'a/AGENTS.md', 'CLAUDE.md', 'src/x.ts', 'node_modules/p/.envrc']) place.put(path);
  putRepository(place, '.git');
  putRepository(place, '.git/modules/lib');
  putRepository(place, 'vendor/bare');
  place.put('.git/modules/lib/hooks/pre-commit');
  place.put('vendor/bare/hooks/update');
  expect(await place.readOnly()).toEqual(['.envrc', '.git/hooks', '.git/modules/lib/hooks', 'a/b/.vscode', 'vendor/bare/hooks']);
});

test('a clone in the workspace can be removed while its hooks are samples, and a hook that is put there is told', async () => {
  using place = makePlace();
  putRepository(place, 'clone/.git');
  expect(await place.readOnly()).toEqual([]);
  expect(await place.during(() => place.put('clone/.git/hooks/pre-commit'))).toEqual(['clone/.git/hooks']);
  expect(await place.readOnly()).toEqual(['clone/.git/hooks']);
});

test('a worktree or submodule can be removed: nothing in it is read-only, and changes in it are told', async () => {
  using place = makePlace();
  for (const path of ['wt/.git', 'wt/.envrc', 'wt/deep/.envrc']) place.put(path);
  expect(await place.readOnly()).toEqual([]);
  expect(await place.during(() => place.put('wt/deep/.envrc', 'changed'))).toEqual(['wt/deep/.envrc']);
  expect(await place.during(() => rmSync(place.file('wt'), { recursive: true }))).toEqual([]);
});

test('new ones are told: in directories that were there, and in new ones', async () => {
  using place = makePlace();
  place.put('a/x');
  place.put('a/AGENTS.md');
  const told = await place.during(() => {
    for (const path of ['.mcp.json', 'a/.envrc', 'new/deep/.idea/x', 'new/CLAUDE.md', 'node_modules/p/.envrc']) place.put(path);
    place.put('a/AGENTS.md', 'changed');
  });
  expect(told).toEqual(['.mcp.json', 'a/.envrc', 'new/CLAUDE.md', 'new/deep/.idea']);
  expect(await place.during(() => place.put('a/x', 'changed'))).toEqual([]);
});

test('what takes the place of another is told', async () => {
  using place = makePlace();
  place.put('app/.envrc', 'mine');
  const told = await place.during(() => {
    renameSync(place.file('app'), place.file('moved'));
    place.put('app/.envrc', 'another');
  });
  expect(told).toEqual(['app/.envrc', 'moved/.envrc']);
});

test('a new repository is told when it has hooks that are no samples', async () => {
  using place = makePlace();
  expect(await place.during(() => putRepository(place, 'plain/.git'))).toEqual([]);
  const told = await place.during(() => {
    putRepository(place, 'armed/.git');
    place.put('armed/.git/hooks/post-checkout');
  });
  expect(told).toEqual(['armed/.git/hooks']);
});

test('no more is looked through than the bound says, the nearest first, and nobody else’s old files are told', async () => {
  using place = makePlace();
  for (let i = 0; i < limits.autorunEntriesMax / 1_000; i++) {
    for (let j = 0; j < 1_000; j++) place.put(`many/d${i}/f${j}`);
  }
  place.put('.envrc');
  place.put('many/d0/last/deep/.envrc');
  expect(await place.readOnly()).toEqual(['.envrc']);
  expect(await place.during(() => place.put('many/.envrc'))).toEqual(['many/.envrc']);
});

test('the directory for hooks is read as git reads it', () => {
  expect(hooksPathIn('[core]\n\tbare = false\n\thooksPath = .husky/_\n')).toBe('.husky/_');
  expect(hooksPathIn('[CORE] HooksPath="a b"/c ; x\n')).toBe('a b/c');
  expect(hooksPathIn('[core]\nhookspath = one\n[core]\nhookspath = two # three\n')).toBe('two');
  expect(hooksPathIn('[core "sub"]\n\thooksPath = x\n[other]\n\thooksPath = x\n')).toBeUndefined();
});
