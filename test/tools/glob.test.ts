import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { compileGlob } from '../../src/tools/search/glob-patterns.js';
import { createGlobTool } from '../../src/tools/search/glob.js';
import { makeTempDir, type TempDir } from '../support/temp-dir.js';
import { callTool, toolContext } from '../support/tool-context.js';

const glob = createGlobTool();

function plant(dir: TempDir, paths: readonly string[]): void {
  for (const path of paths) {
    mkdirSync(dirname(dir.file(path)), { recursive: true });
    writeFileSync(dir.file(path), '');
  }
}

async function find(dir: TempDir, args: Record<string, unknown>): Promise<string[]> {
  const { text } = await callTool(glob, args, toolContext({ cwd: dir.path }));
  return text.split('\n').sort();
}

const paths = ['a.ts', 'b.js', '.hidden.ts', 'src/a.ts', 'src/deep/er/b.tsx', 'src/deep/c.ts', 'test/a.test.ts', 'x{y}.md', 'src/ä.ts'];
test.for([
  ['*.ts', ['a.ts', '.hidden.ts']],
  ['**/*.ts', ['a.ts', '.hidden.ts', 'src/a.ts', 'src/deep/c.ts', 'test/a.test.ts', 'src/ä.ts']],
  ['src/**', ['src/a.ts', 'src/deep/er/b.tsx', 'src/deep/c.ts', 'src/ä.ts']],
  ['src/**/*.{ts,tsx}', ['src/a.ts', 'src/deep/er/b.tsx', 'src/deep/c.ts', 'src/ä.ts']],
  ['{src,test}/a*.ts', ['src/a.ts', 'test/a.test.ts']],
  ['{src/{a,deep/c},b}.{ts,js}', ['src/a.ts', 'src/deep/c.ts', 'b.js']],
  ['[a-b].?s', ['a.ts', 'b.js']],
  ['[!a].js', ['b.js']],
  ['src/?.ts', ['src/a.ts', 'src/ä.ts']],
  ['**/deep/**/*', ['src/deep/er/b.tsx', 'src/deep/c.ts']],
  ['./src/a.ts', ['src/a.ts']],
  ['x{y}.md', ['x{y}.md']],
  ['x\\{y\\}.md', ['x{y}.md']],
  ['src', ['No files match.']],
  ['[', ['No files match.']],
  ['{a,b', ['No files match.']],
] as const)('%s finds %j', async ([pattern, expected]) => {
  using dir = makeTempDir();
  plant(dir, paths);
  expect(await find(dir, { pattern })).toEqual([...expected].sort());
});

test('the newest come first', async () => {
  using dir = makeTempDir();
  plant(dir, ['old', 'new', 'middle']);
  for (const [name, time] of [
    ['old', 100],
    ['middle', 200],
    ['new', 300],
  ] as const)
    utimesSync(dir.file(name), time, time);
  expect((await callTool(glob, { pattern: '*' }, toolContext({ cwd: dir.path }))).text).toBe('new\nmiddle\nold');
});

test('what .gitignore names is left out, the way git does it', async () => {
  using dir = makeTempDir();
  const all = [
    'a.log',
    'keep.log',
    'build/x',
    'src/build/y',
    'src/a.ts',
    'top',
    'src/top',
    'doc/x.pdf',
    'doc/deep/y.pdf',
    'src/own',
    'a b ',
    'deep/a/b/c',
    '#x',
    '!y',
  ];
  plant(dir, [...all, '.git/config', 'node_modules/m/index.js']);
  writeFileSync(
    dir.file('.gitignore'),
    '# words\n*.log\n!keep.log\nbuild/\n/top\ndoc/*.pdf\nnode_modules\n\\#x\n\\!y\ndeep/**/c\na b\\ \n\n',
  );
  writeFileSync(dir.file('src/.gitignore'), 'own\n!build/\n');
  execFileSync('git', ['init', '-q', dir.path]);
  const visible = execFileSync('git', ['-C', dir.path, '-c', 'core.excludesFile=/dev/null', 'ls-files', '-co', '--exclude-standard'], {
    encoding: 'utf8',
  });
  expect(await find(dir, { pattern: '**' })).toEqual(visible.trim().split('\n').sort());
  expect(await find(dir, { pattern: '**', path: 'src' })).toEqual(['src/.gitignore', 'src/a.ts', 'src/build/y', 'src/top']);
  expect(await find(dir, { pattern: '**', path: 'node_modules/m' })).toEqual(['node_modules/m/index.js']);
});

test('a .gitignore cannot make matching slow', async () => {
  using dir = makeTempDir();
  plant(
    dir,
    Array.from({ length: 50 }, (_, i) => `${'a'.repeat(200)}${i}`),
  );
  writeFileSync(dir.file('.gitignore'), `${'*a'.repeat(40)}b\n${'**/'.repeat(40)}b\n`.repeat(20));
  expect(await find(dir, { pattern: `${'*a'.repeat(100)}*b` })).toEqual(['No files match.']);
});

test('patterns stay in their directory', async () => {
  using dir = makeTempDir();
  plant(dir, ['proj/a.ts', 'other/b.ts']);
  const context = toolContext({ cwd: dir.file('proj') });
  for (const pattern of ['../other/*.ts', 'x/../../other/*', '{a,..}/**', `${dir.path}/other/*`, '/etc/*']) {
    expect(await callTool(glob, { pattern }, context), pattern).toMatchObject({ isError: true });
  }
  expect((await callTool(glob, { pattern: `${dir.path}/proj/*.ts` }, context)).text).toBe('a.ts');
  for (const path of ['..', '../other', '/etc', '/proc/self/root/etc']) {
    expect(await callTool(glob, { pattern: '*', path }, context), path).toMatchObject({
      isError: true,
      text: expect.stringContaining('may not be read'),
    });
  }
});

test('links are named and not followed, so a circle is no trap', async () => {
  using dir = makeTempDir();
  plant(dir, ['d/a']);
  symlinkSync('..', dir.file('d/up'));
  symlinkSync('/etc', dir.file('etc'));
  execFileSync('mkfifo', [dir.file('pipe')]);
  expect(await find(dir, { pattern: '**' })).toEqual(['d/a', 'd/up', 'etc']);
});

test('places that may not be read are left out and counted', async () => {
  using dir = makeTempDir();
  plant(dir, ['a', 'secret/b', '.env']);
  const context = toolContext({ cwd: dir.path });
  const refuses = (_: string, path: string): string | undefined => (/secret|\.env/.test(path) ? 'no' : undefined);
  const said = await callTool(glob, { pattern: '**' }, { ...context, reach: { ...context.reach, refuses } });
  expect(said.text).toBe('a\n\n[2 paths left out by permission rules.]');
});

test('bombs of braces are refused at once', async () => {
  using dir = makeTempDir();
  for (const pattern of [
    '{a,b}'.repeat(100),
    `${'{,'.repeat(320)}${'}'.repeat(320)}`,
    `{${','.repeat(900)}}`,
    '{{a,b},{c,d}}'.repeat(30),
  ]) {
    expect(await callTool(glob, { pattern }, toolContext({ cwd: dir.path }))).toMatchObject({
      isError: true,
      text: expect.stringContaining('alternatives'),
    });
  }
});

test('results are bounded, and that is said', async () => {
  using dir = makeTempDir();
  plant(
    dir,
    Array.from({ length: 300 }, (_, i) => `f${i}`),
  );
  const { text } = await callTool(glob, { pattern: '*' }, toolContext({ cwd: dir.path }));
  expect(text.split('\n')).toHaveLength(202);
  expect(text).toContain('[The newest 200 of 300 files.]');
});

test('in a large tree it stops at once when it is told to, and others get their turn', async () => {
  using dir = makeTempDir();
  for (let d = 0; d < 20; d++)
    plant(
      dir,
      Array.from({ length: 500 }, (_, i) => `d${d}/f${i}`),
    );
  const begunMs = performance.now();
  await callTool(glob, { pattern: '**/*.none' }, toolContext({ cwd: dir.path }));
  const wholeMs = performance.now() - begunMs;
  const stop = new AbortController();
  let stoppedMs = 0;
  setImmediate(() => {
    stoppedMs = performance.now();
    stop.abort();
  });
  const said = await callTool(glob, { pattern: '**/*.none' }, toolContext({ cwd: dir.path, signal: stop.signal }));
  expect(said.text).toBe('Stopped.');
  expect(performance.now() - stoppedMs).toBeLessThan(Math.max(1_000, 2 * wholeMs));
});

test('a directory that cannot be entered, or is a special one, ends nothing', async () => {
  using dir = makeTempDir();
  plant(dir, ['a', 'closed/b']);
  chmodSync(dir.file('closed'), 0o000);
  expect(await find(dir, { pattern: '**' })).toContain('a');
  chmodSync(dir.file('closed'), 0o755);
  for (const path of ['no', 'a', '/dev/null']) {
    expect(await callTool(glob, { pattern: '*', path }, toolContext({ cwd: dir.path })), path).toMatchObject({ isError: true });
  }
});

test('only directories that can hold a match are entered', () => {
  const pattern = compileGlob('src/*/lib/**/*.ts');
  if (typeof pattern === 'string') expect.unreachable();
  expect(['', 'src', 'src/a', 'src/a/lib', 'src/a/lib/x/y'].map((path) => pattern.mayMatchBelow(path))).toEqual([
    true,
    true,
    true,
    true,
    true,
  ]);
  expect(['test', 'src/a/b', 'lib'].map((path) => pattern.mayMatchBelow(path))).toEqual([false, false, false]);
});

test('it only looks, and says where', async () => {
  expect([glob.readOnly, glob.resumable]).toEqual([true, true]);
  expect(glob.description.length).toBeLessThanOrEqual(120);
  expect(await glob.prepare?.({ pattern: '*', path: 'x' }, { sessionId: 's', cwd: '/w' })).toEqual({
    accesses: [{ kind: 'read', path: '/w/x' }],
  });
});
