import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { findBubblewrap, type BubblewrapFound } from '../../src/sandbox/bubblewrap.js';
import type { Reach, ToolContext } from '../../src/tools/port.js';
import { createGrepTool } from '../../src/tools/search/grep.js';
import { findRipgrep } from '../../src/tools/search/ripgrep.js';
import { makeTempDir, type TempDir } from '../support/temp-dir.js';
import { callTool, toolContext, workspaceReach, type Said } from '../support/tool-context.js';

function plant(dir: TempDir, files: Record<string, string | Buffer>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(dir.file(path)), { recursive: true });
    writeFileSync(dir.file(path), text);
  }
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch (error) {
    // It has ended meanwhile.
    if (error instanceof Error && 'code' in error) return '';
    throw error;
  }
}

const program = await findRipgrep();
const found = findBubblewrap();
const bubblewrap = (): BubblewrapFound => found;
const plainGrep = createGrepTool({ bubblewrap, ripgrep: () => Promise.resolve(undefined) });
const searches = [
  {
    name: 'with ripgrep (needs rg and bubblewrap)',
    grep: createGrepTool({ bubblewrap }),
    isMissing: program === undefined || 'missing' in found,
  },
  { name: 'without ripgrep', grep: plainGrep, isMissing: false },
];

/** A reach as on a machine with a sandbox. */
function sandboxReach(dir: TempDir, more: Partial<Reach> = {}): Reach {
  const reach = workspaceReach(dir.path);
  return { ...reach, confinement: { ...reach.confinement, kind: 'sandbox' }, ...more };
}

for (const { name, grep, isMissing } of searches) {
  describe.skipIf(isMissing)(name, () => {
    function search(dir: TempDir, args: Record<string, unknown>, overrides: Partial<ToolContext> = {}): Promise<Said> {
      return callTool(grep, args, toolContext({ cwd: dir.path, reach: sandboxReach(dir), ...overrides }));
    }

    test('lines come by file with their numbers, relative to the session', async () => {
      using dir = makeTempDir();
      plant(dir, { 'src/a.ts': 'one\nneedle 1\r\nthree\nneedle 2\n', 'b.ts': 'nothing\n' });
      const said = await search(dir, { pattern: 'needle \\d' });
      expect(said).toMatchObject({
        isError: false,
        text: 'src/a.ts\n2: needle 1\n4: needle 2',
        details: { counts: { matches: 2, files: 1 } },
      });
      expect((await search(dir, { pattern: 'needle', path: 'src' })).text).toContain('src/a.ts\n2: needle 1');
      expect((await search(dir, { pattern: 'needle', path: 'src/a.ts' })).text).toBe('src/a.ts\n2: needle 1\n4: needle 2');
      expect((await search(dir, { pattern: 'needle', path: dir.file('b.ts') })).text).toBe('No matches.');
    });

    test('the other modes name files or count lines', async () => {
      using dir = makeTempDir();
      plant(dir, { 'a b': 'x\nx\n', c: 'x\n', d: 'y\n' });
      expect((await search(dir, { pattern: 'x', mode: 'files' })).text.split('\n').sort()).toEqual(['a b', 'c']);
      expect((await search(dir, { pattern: 'x', mode: 'count' })).text.split('\n').sort()).toEqual(['a b: 2', 'c: 1']);
      expect((await search(dir, { pattern: 'x', mode: 'count', path: 'c' })).text).toBe('c: 1');
      expect((await search(dir, { pattern: 'x', mode: 'files', path: 'c' })).text).toBe('c');
    });

    test('patterns may be plain text, or ignore case, or begin with a dash', async () => {
      using dir = makeTempDir();
      plant(dir, { a: 'Foo(bar)\n--files\n$HOME [x]\n' });
      expect((await search(dir, { pattern: 'foo', ignore_case: true })).text).toBe('a\n1: Foo(bar)');
      expect((await search(dir, { pattern: 'foo' })).text).toBe('No matches.');
      expect((await search(dir, { pattern: 'Foo(', literal: true })).text).toBe('a\n1: Foo(bar)');
      expect((await search(dir, { pattern: '$HOME [x]', literal: true })).text).toBe('a\n3: $HOME [x]');
      expect((await search(dir, { pattern: '--files' })).text).toBe('a\n2: --files');
    });

    test('lines around a match are shown, with gaps', async () => {
      using dir = makeTempDir();
      plant(dir, { a: '1\n2\nx\n4\n5\n6\n7\nx\n9\n' });
      expect((await search(dir, { pattern: 'x', context: 1 })).text).toBe('a\n2- 2\n3: x\n4- 4\n--\n7- 7\n8: x\n9- 9');
      expect((await search(dir, { pattern: 'x', context: 1, limit: 1 })).text).toContain(
        'a\n2- 2\n3: x\n4- 4\n\n[Stopped at the limit of 1',
      );
    });

    test('only files that a glob names are searched', async () => {
      using dir = makeTempDir();
      plant(dir, { 'a.ts': 'x\n', 'd/b.ts': 'x\n', 'd/c.js': 'x\n' });
      const names = async (glob: string): Promise<string[]> =>
        (await search(dir, { pattern: 'x', glob, mode: 'files' })).text.split('\n').sort();
      expect(await names('*.ts')).toEqual(['a.ts', 'd/b.ts']);
      expect(await names('d/*.{ts,js}')).toEqual(['d/b.ts', 'd/c.js']);
      expect(await names('!*.ts')).toEqual(['d/c.js']);
      expect(await names('--pre=touch')).toEqual(['No matches.']);
    });

    test('what git ignores and .git are left out; hidden files are not', async () => {
      using dir = makeTempDir();
      plant(dir, { '.gitignore': '*.log\nout/\n', 'a.log': 'x', 'out/b': 'x', '.git/c': 'x', '.github/d': 'x', e: 'x' });
      expect((await search(dir, { pattern: 'x', mode: 'files' })).text.split('\n').sort()).toEqual(['.github/d', 'e']);
      expect((await search(dir, { pattern: 'x', mode: 'files', path: 'out' })).text).toBe('out/b');
      expect((await search(dir, { pattern: 'x', path: 'a.log' })).text).toBe('a.log\n1: x');
    });

    test('in a part of a repository, what is ignored further up is left out as well', async () => {
      using dir = makeTempDir();
      plant(dir, { '.git/HEAD': '', '.gitignore': 'dist/\n/part/gen\n', 'part/.gitignore': '*.log\n' });
      plant(dir, { 'part/dist/a': 'x', 'part/gen/b': 'x', 'part/sub/c.log': 'x', 'part/sub/d': 'x' });
      const context = toolContext({ cwd: dir.file('part') });
      const reach: Reach = { ...context.reach, confinement: { ...context.reach.confinement, kind: 'sandbox' } };
      for (const path of ['.', 'sub'])
        expect((await callTool(grep, { pattern: 'x', mode: 'files', path }, { ...context, reach })).text).toBe('sub/d');
    });

    test('a pattern that is none is refused with the reason', async () => {
      using dir = makeTempDir();
      plant(dir, { a: 'x' });
      for (const pattern of ['(', '[a', 'a{2,1}', '*']) {
        expect(await search(dir, { pattern }), pattern).toMatchObject({
          isError: true,
          text: expect.stringMatching(/regular expression|regex/i),
        });
      }
    });

    test('files that may not be read are not shown, and counted', async () => {
      using dir = makeTempDir();
      plant(dir, { a: 'password\n', '.env': 'password=hunter2\n', 'secret/b': 'password\n' });
      symlinkSync('/etc/passwd', dir.file('link'));
      const refuses = (_: string, path: string): string | undefined => (/secret|\.env/.test(path) ? 'no' : undefined);
      for (const mode of ['content', 'files', 'count']) {
        const { text } = await search(dir, { pattern: 'password', mode }, { reach: sandboxReach(dir, { refuses }) });
        expect(text).not.toMatch(/hunter2|secret|\.env/);
        expect(text).toMatch(/^a/);
      }
      expect((await search(dir, { pattern: 'root:', mode: 'files' })).text).toBe('No matches.');
      for (const path of ['link', '/etc/passwd', '/etc', '..', '/proc/self/root/etc/passwd']) {
        expect(await search(dir, { pattern: 'root', path }), path).toMatchObject({
          isError: true,
          text: expect.stringContaining('may not be read'),
        });
      }
    });

    test('special files are refused, or passed by', async () => {
      using dir = makeTempDir();
      plant(dir, { a: 'x\n' });
      execFileSync('mkfifo', [dir.file('pipe')]);
      symlinkSync('loop', dir.file('loop'));
      symlinkSync('.', dir.file('self'));
      const reach = sandboxReach(dir, { refuses: () => undefined });
      for (const path of ['pipe', 'loop', '/dev/zero', '/proc/kmsg', '/proc/self', '/sys', 'no']) {
        expect(await search(dir, { pattern: 'x', path }, { reach }), path).toMatchObject({ isError: true });
      }
      expect((await search(dir, { pattern: 'x' })).text).toBe('a\n1: x');
    });

    test('long lines are cut and binary data is not shown', async () => {
      using dir = makeTempDir();
      plant(dir, { long: `x${'y'.repeat(100_000)}\n`, binary: Buffer.concat([Buffer.alloc(100), Buffer.from('x\n')]) });
      const { text } = await search(dir, { pattern: 'x' });
      expect(text.length).toBeLessThan(700);
      expect(text).toContain('omitted end of long line');
      expect(text).not.toContain('\0');
    });

    test('what is told is bounded, and that is said', async () => {
      using dir = makeTempDir();
      plant(dir, { a: `x ${'y'.repeat(400)}\n`.repeat(5_000) });
      expect((await search(dir, { pattern: 'x', limit: 3 })).text).toMatch(/3: x y+\n\n\[Stopped at the limit of 3; there may be more/);
      const { text } = await search(dir, { pattern: 'x', limit: 2_000 });
      expect(text.length).toBeLessThan(52_000);
      expect(text).toContain('[Only 50 KB are shown');
    });

    test('a large file of one line costs little', async () => {
      using dir = makeTempDir();
      const file = openSync(dir.file('large'), 'w');
      for (let i = 0; i < 157; i++) writeSync(file, Buffer.alloc(1024 * 1024, i === 100 ? 'x\u0001' : 'y\u0002'));
      closeSync(file);
      plant(dir, { a: 'x\n' });
      const before = process.memoryUsage.rss();
      expect((await search(dir, { pattern: 'x' })).text).toBe('a\n1: x');
      expect(await search(dir, { pattern: 'x', path: 'large' })).toMatchObject({
        isError: true,
        text: expect.stringContaining('too large'),
      });
      expect(process.memoryUsage.rss() - before).toBeLessThan(64 * 1024 * 1024);
    });

    test('it stops when it is told to', async () => {
      using dir = makeTempDir();
      for (let d = 0; d < 10; d++) for (let f = 0; f < 50; f++) plant(dir, { [`d${d}/f${f}`]: 'some text\n' });
      const begunMs = performance.now();
      await search(dir, { pattern: 'nothing' });
      const wholeMs = performance.now() - begunMs;
      const stop = new AbortController();
      let stoppedMs = 0;
      setImmediate(() => {
        stoppedMs = performance.now();
        stop.abort();
      });
      expect((await search(dir, { pattern: 'nothing' }, { signal: stop.signal })).text).toBe('Stopped.');
      expect(performance.now() - stoppedMs).toBeLessThan(Math.max(1_000, 2 * wholeMs));
    });

    test('it ends and leaves no process behind, whenever it is told to stop', async () => {
      using dir = makeTempDir();
      plant(dir, { a: 'x\n' });
      for (let turns = 0; turns < 60; turns++) {
        const stop = new AbortController();
        const searching = search(dir, { pattern: 'nothing' }, { signal: stop.signal });
        for (let i = 0; i < turns; i++) await nextTurn();
        stop.abort();
        await searching;
      }
      const left = readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && commandLine(pid).includes(dir.path));
      expect(left).toEqual([]);
    });

    test('directories that cannot be entered end nothing', async () => {
      using dir = makeTempDir();
      plant(dir, { a: 'x\n', 'closed/b': 'x\n' });
      chmodSync(dir.file('closed'), 0o000);
      expect((await search(dir, { pattern: 'x' })).text).toContain('a\n1: x');
      chmodSync(dir.file('closed'), 0o755);
    });

    test('names cannot pretend to be results', async () => {
      using dir = makeTempDir();
      plant(dir, { 'a\n9: fake': 'x\n', '--pre': 'x\n' });
      const { text } = await search(dir, { pattern: 'x' });
      expect(text).toContain('a\\x0a9: fake\n1: x');
      expect(text).toContain('--pre\n1: x');
    });
  });
}

test.skipIf(program === undefined || 'missing' in found)(
  'what is hidden from commands is not there for ripgrep (needs rg and bubblewrap)',
  async () => {
    using dir = makeTempDir();
    plant(dir, { a: 'x\n', 'keys/b': 'x\n', token: 'x\n' });
    const reach = sandboxReach(dir);
    reach.confinement.hidden = [dir.file('keys'), dir.file('token'), dir.file('absent')];
    const { text } = await callTool(createGrepTool({ bubblewrap }), { pattern: 'x' }, toolContext({ cwd: dir.path, reach }));
    expect(text).toBe('a\n1: x\n\n[2 paths left out by permission rules.]');
  },
);

test.skipIf(program === undefined || 'missing' in found)(
  'an ignore file that is a FIFO is refused by its name, and holds nothing up (needs rg and bubblewrap)',
  async () => {
    for (const fifo of ['.gitignore', 'deep/er/.gitignore', '.git/info/exclude']) {
      using dir = makeTempDir();
      plant(dir, { a: 'nothing\n', 'deep/er/b': 'nothing\n', '.git/HEAD': '' });
      mkdirSync(dirname(dir.file(fifo)), { recursive: true });
      execFileSync('mkfifo', [dir.file(fifo)]);
      const said = await callTool(
        createGrepTool({ bubblewrap }),
        { pattern: 'x' },
        toolContext({ cwd: dir.path, reach: sandboxReach(dir) }),
      );
      expect(said).toMatchObject({ isError: true, text: expect.stringContaining(`${fifo} is a FIFO, not a file`) });
    }
  },
);

test('an expression that would take for ever ends with its search', async () => {
  using dir = makeTempDir();
  plant(dir, { a: `${'a'.repeat(60)}!\n` });
  const stop = new AbortController();
  setTimeout(() => stop.abort(), 200);
  expect((await callTool(plainGrep, { pattern: '(a+)+$' }, toolContext({ cwd: dir.path, signal: stop.signal }))).text).toBe('Stopped.');
});

test('a program of the workspace is never run, and no configuration is read', async ({ onTestFinished }) => {
  using dir = makeTempDir();
  const { PATH, RIPGREP_CONFIG_PATH } = process.env;
  onTestFinished(() => {
    process.env.PATH = PATH;
    delete process.env.RIPGREP_CONFIG_PATH;
    if (RIPGREP_CONFIG_PATH !== undefined) process.env.RIPGREP_CONFIG_PATH = RIPGREP_CONFIG_PATH;
  });
  plant(dir, { rg: `#!/bin/sh\ntouch ${dir.file('canary')}\n`, ripgreprc: `--pre=${dir.file('rg')}\n`, a: 'x\n' });
  chmodSync(dir.file('rg'), 0o755);
  process.env.PATH = `.:${dir.path}:${PATH}`;
  process.env.RIPGREP_CONFIG_PATH = dir.file('ripgreprc');
  expect(await findRipgrep()).toBe(program);
  expect(
    (await callTool(createGrepTool({ bubblewrap }), { pattern: '^x' }, toolContext({ cwd: dir.path, reach: sandboxReach(dir) }))).text,
  ).toBe('a\n1: x');
  expect(existsSync(dir.file('canary'))).toBe(false);
});

test('it only looks, and says where', async () => {
  const grep = createGrepTool({ bubblewrap });
  expect([grep.readOnly, grep.resumable]).toEqual([true, true]);
  expect(grep.description.length).toBeLessThanOrEqual(120);
  expect(grep.title({ pattern: 'a\nb' })).toBe('Search "a\\\\x0ab"');
  expect(await grep.prepare?.({ pattern: 'x' }, { sessionId: 's', cwd: '/w' })).toEqual({ accesses: [{ kind: 'read', path: '/w' }] });
});
