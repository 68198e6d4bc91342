import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { limits } from '../../src/protocol/limits.js';
import type { FileFinder, FileSearch, FoundPaths } from '../../src/tools/port.js';
import { createFileFinder } from '../../src/tools/search/file-finder.js';
import { processorMs, watchStalls } from '../support/processor-time.js';
import { makeTempDir } from '../support/temp-dir.js';

function makeFiles(root: string, ...paths: string[]): void {
  for (const path of paths) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    if (path.endsWith('/')) mkdirSync(join(root, path), { recursive: true });
    else writeFileSync(join(root, path), '');
  }
}

/** Searches until all of the directory was looked at, which takes a busy machine more than one search. */
async function find(finder: FileFinder, root: string, query: string, more: Partial<FileSearch> = {}): Promise<FoundPaths> {
  for (;;) {
    const found = await finder.find({
      sessionId: 'ses_1',
      root,
      refuses: () => undefined,
      query,
      limit: 50,
      recent: new Map(),
      ...more,
    });
    if (!found.truncated) return found;
  }
}

async function pathsOf(root: string, query: string, more: Partial<FileSearch> = {}): Promise<string[]> {
  return (await find(createFileFinder(), root, query, more)).files.map(({ path }) => path);
}

describe('files of a directory', () => {
  test('are found with their directories, but not what git ignores nor git itself', async () => {
    using dir = makeTempDir();
    makeFiles(dir.path, 'src/a.ts', 'src/deep/b.ts', 'empty/', 'node_modules/x/a.ts', '.git/config', '.github/ci.yml', 'dist/a.js');
    writeFileSync(dir.file('.gitignore'), 'node_modules\n/dist/\n');
    expect(await find(createFileFinder(), dir.path, '')).toEqual({
      files: [
        { path: 'src/', kind: 'directory' },
        { path: 'empty/', kind: 'directory' },
        { path: '.github/', kind: 'directory' },
        { path: '.gitignore', kind: 'file' },
        { path: 'src/a.ts', kind: 'file' },
        { path: 'src/deep/', kind: 'directory' },
        { path: '.github/ci.yml', kind: 'file' },
        { path: 'src/deep/b.ts', kind: 'file' },
      ],
      total: 8,
      truncated: false,
    });
    expect(await pathsOf(dir.path, 'a.')).toEqual(['src/a.ts']);
  });

  test('that may not be read are not found, whatever they are called', async () => {
    using dir = makeTempDir();
    makeFiles(dir.path, 'secret/key.txt', 'a.pem', 'a.txt');
    symlinkSync('a.pem', dir.file('innocent'));
    symlinkSync('secret', dir.file('also-innocent'));
    symlinkSync('nowhere', dir.file('dangling'));
    symlinkSync('a.txt', dir.file('alias'));
    const refuses: FileSearch['refuses'] = (_kind, real) => (/\.pem$|\/secret(\/|$)/.test(real) ? 'no' : undefined);
    const found = await find(createFileFinder(), dir.path, '', { refuses });
    expect(found).toEqual({
      files: [
        { path: 'a.txt', kind: 'file' },
        { path: 'alias', kind: 'file' },
      ],
      total: 2,
      truncated: false,
    });
  });

  test('are named relative to the directory, and nothing outside of it is found', async () => {
    using dir = makeTempDir();
    makeFiles(dir.path, 'src/a.ts');
    for (const query of ['src/a', './src/a', `${dir.path}/src/a`, '././src/a'])
      expect(await pathsOf(dir.path, query)).toEqual(['src/a.ts']);
    for (const query of ['/etc/passwd', '../', '..', '~/x', '/']) expect(await pathsOf(dir.path, query)).toEqual([]);
  });

  test('with names of any kind are found by them', async () => {
    using dir = makeTempDir();
    const names = ['new\nline', 'a b', '$(x)', '-rf', 'ä', '\u001b[2J', '*'];
    makeFiles(dir.path, ...names);
    for (const name of names) expect(await pathsOf(dir.path, name)).toContain(name);
  });

  test('that have been used are first', async () => {
    using dir = makeTempDir();
    makeFiles(dir.path, 'test.ts', 'a/b/test.ts');
    expect(await pathsOf(dir.path, 'test', { recent: new Map([['a/b/test.ts', 0]]) })).toEqual(['a/b/test.ts', 'test.ts']);
  });

  test('are as many as were asked for, and it is said how many there are', async () => {
    using dir = makeTempDir();
    makeFiles(dir.path, ...Array.from({ length: 300 }, (_, i) => `f${i}`));
    const { files, total } = await find(createFileFinder(), dir.path, 'f', { limit: 7 });
    expect({ count: files.length, total }).toEqual({ count: 7, total: 300 });
  });

  test('that are gone since they were looked for are not found', async () => {
    using dir = makeTempDir();
    makeFiles(dir.path, 'gone.ts', 'here.ts');
    const finder = createFileFinder();
    await find(finder, dir.path, '');
    rmSync(dir.file('gone.ts'));
    expect(await find(finder, dir.path, '')).toEqual({ files: [{ path: 'here.ts', kind: 'file' }], total: 1, truncated: false });
  });

  test('of a directory that cannot be read are none', async () => {
    using dir = makeTempDir();
    makeFiles(dir.path, 'closed/a', 'open/b');
    expect(await pathsOf(dir.file('nowhere'), '')).toEqual([]);
    if (process.getuid?.() === 0) return;
    chmodSync(dir.file('closed'), 0);
    expect(await pathsOf(dir.path, 'b')).toEqual(['open/b']);
    chmodSync(dir.file('closed'), 0o700);
  });
});

test('only so many sessions are remembered, and a search of each is answered', async () => {
  using dir = makeTempDir();
  makeFiles(dir.path, 'a');
  const finder = createFileFinder();
  for (let i = 0; i < 3 * limits.indexedSessionsMax; i++) {
    const { files } = await find(finder, dir.path, 'a', { sessionId: `ses_${i % 7}` });
    expect(files).toEqual([{ path: 'a', kind: 'file' }]);
  }
});

test('a large directory holds nobody up the first time, and takes a moment after that', async () => {
  using dir = makeTempDir();
  for (let d = 0; d < 200; d++) makeFiles(dir.path, ...Array.from({ length: 100 }, (_, f) => `p${d % 10}/d${d}/file-${f}-${d}.ts`));
  const finder = createFileFinder();
  const longestStallMs = watchStalls();
  const { total } = await find(finder, dir.path, 'file');
  // The matching is one piece of work, the walk is many.
  expect(longestStallMs()).toBeLessThan(50);
  expect(total).toBe(20_000);
  const beforeMs = processorMs();
  expect((await find(finder, dir.path, 'file-7-199', { limit: 10 })).files[0]?.path).toBe('p9/d199/file-7-199.ts');
  expect(processorMs() - beforeMs).toBeLessThan(100);
});
