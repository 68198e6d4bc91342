import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { sized } from '../support/fault-sizes.js';
import { createFileTools, type FileTools } from '../support/file-tools.js';
import { makeTempDir } from '../support/temp-dir.js';

interface Yard extends Disposable {
  files: FileTools;
  proj: string;
  outside: string;
  /** Everything that is not in the workspace, as text. */
  snapshot(): string;
}

/** A workspace with every kind of way out of it, and the places that they lead to. */
function makeYard(): Yard {
  const dir = makeTempDir();
  const [proj, outside] = [dir.file('proj'), dir.file('outside')];
  for (const path of [proj, join(proj, 'sub'), outside, join(outside, 'sub'), dir.file('proj-evil')]) mkdirSync(path);
  for (const path of [outside, join(outside, 'sub'), dir.file('proj-evil')]) writeFileSync(join(path, 'secret.txt'), 'secret\n');
  const links: Record<string, string> = {
    'to-file': '../outside/secret.txt',
    'to-file-absolute': join(outside, 'secret.txt'),
    'to-dir': '../outside',
    'to-dir-absolute': outside,
    'to-parent': '..',
    'to-root': '/',
    'to-nothing': '../outside/new.txt',
    'to-nothing-deep': '../outside/new/deep.txt',
    'to-evil': '../proj-evil/secret.txt',
    'chain-1': 'chain-2',
    'chain-2': 'chain-3',
    'chain-3': 'to-file',
    'chain-dir': 'sub/../to-dir',
    'to-proc-root': `/proc/self/root${outside}/secret.txt`,
    'to-proc-cwd': '/proc/self/cwd',
    'to-environ': '/proc/self/environ',
    'to-null': '/dev/null',
    'to-zero': '/dev/zero',
    'loop-1': 'loop-2',
    'loop-2': 'loop-1',
    'loop-self': 'loop-self/x',
    'sub/up': '../../outside/secret.txt',
    'sub/up-dir': '../../outside/sub',
  };
  for (const [name, target] of Object.entries(links)) symlinkSync(target, join(proj, name));
  execFileSync('mkfifo', [join(proj, 'fifo')]);
  const snapshot = (): string =>
    ['outside', 'proj-evil', '.'].flatMap((name) => readdirSync(dir.file(name), { recursive: name !== '.' }).map(String)).join() +
    ['outside', 'outside/sub', 'proj-evil'].map((name) => readFileSync(join(dir.file(name), 'secret.txt'), 'utf8')).join();
  return { files: createFileTools(dir, proj), proj, outside, snapshot, [Symbol.dispose]: () => dir[Symbol.dispose]() };
}

const escapes: ((yard: Yard) => string)[] = [
  () => '../outside/secret.txt',
  () => '../outside/new.txt',
  () => '../new/dir/new.txt',
  () => 'sub/../../outside/secret.txt',
  () => 'to-file/../../outside/secret.txt',
  ({ outside }) => `${outside}/secret.txt`,
  ({ outside }) => `//${outside}//secret.txt`,
  ({ proj }) => `${proj}/../outside/secret.txt`,
  ({ proj }) => `${proj}//./../outside/./secret.txt`,
  ({ proj }) => `${proj}-evil/secret.txt`,
  ({ proj }) => `${proj}-evil/new.txt`,
  ({ proj }) => `${proj}-new/new.txt`,
  () => '../proj-evil/secret.txt',
  () => 'to-file',
  () => './sub/../to-file',
  () => 'to-file-absolute',
  () => 'to-dir/secret.txt',
  () => 'to-dir/new.txt',
  () => 'to-dir/sub/secret.txt',
  () => 'to-dir/new/deep/er.txt',
  () => 'to-dir-absolute/secret.txt',
  () => 'to-parent/outside/secret.txt',
  () => 'to-parent/new.txt',
  ({ outside }) => `to-root${outside}/secret.txt`,
  () => 'to-root/etc/passwd',
  () => 'to-nothing',
  () => 'to-nothing-deep',
  () => 'to-evil',
  () => 'chain-1',
  () => 'chain-dir/secret.txt',
  () => 'to-proc-root',
  ({ outside }) => `/proc/self/root${outside}/secret.txt`,
  ({ outside }) => `/proc/self/root${outside}/new.txt`,
  ({ outside }) => `/proc/thread-self/root${outside}/secret.txt`,
  ({ outside }) => `/proc/${process.pid}/root${outside}/secret.txt`,
  ({ outside }) => `/proc/self/task/${process.pid}/root${outside}/secret.txt`,
  () => '/proc/self/cwd/package.json',
  () => '/proc/self/cwd/new.txt',
  () => 'to-proc-cwd/package.json',
  () => '/proc/self/exe',
  () => '/proc/self/fd/1',
  () => '/dev/fd/2',
  () => '/dev/stdout',
  () => '/proc/self/environ',
  () => 'to-environ',
  () => '/proc/self/mem',
  () => '/proc/sys/kernel/hostname',
  () => '/sys/kernel/mm/ksm/run',
  () => '/etc/passwd',
  () => '/dev/null',
  () => 'to-null',
  () => 'to-zero',
  () => 'loop-1',
  () => 'loop-self',
  () => 'sub/up',
  () => 'sub/up-dir/secret.txt',
  () => 'sub/up-dir/new.txt',
  () => 'fifo',
  () => 'fifo/x',
  () => 'sub',
  () => '.',
  () => '..',
  () => '/',
];

test(`${escapes.length} ways out: none is read, written or edited`, async () => {
  using yard = makeYard();
  const before = yard.snapshot();
  expect(escapes.length).toBeGreaterThanOrEqual(40);
  for (const escape of escapes) {
    const path = escape(yard);
    const calls = [
      await yard.files.read({ path }),
      await yard.files.write({ path, content: 'broken out\n' }),
      await yard.files.edit({ path, old_text: 'secret', new_text: 'broken out' }),
      await yard.files.edit({ path, old_text: '', new_text: 'broken out' }),
    ];
    for (const { isError, text } of calls) {
      expect({ path, isError, text }).toMatchObject({ isError: true });
      expect(text).not.toMatch(/secret\n|read in this session|root:x:/);
    }
  }
  expect(yard.snapshot()).toBe(before);
});

test('a path that goes up behind a link goes up where it is written, not where it leads', async () => {
  using yard = makeYard();
  const before = yard.snapshot();
  expect((await yard.files.write({ path: 'to-dir/../here.txt', content: 'x' })).isError).toBe(false);
  expect(readFileSync(join(yard.proj, 'here.txt'), 'utf8')).toBe('x');
  expect(yard.snapshot()).toBe(before);
});

test('special files are refused at once, even when they may be reached', async () => {
  using yard = makeYard();
  const socket = createServer().listen(join(yard.proj, 'socket'));
  await once(socket, 'listening');
  const reach = { ...yard.files.context.reach, refuses: () => undefined };
  const begun = performance.now();
  for (const path of [
    'fifo',
    'socket',
    '/dev/zero',
    '/dev/random',
    '/dev/tty',
    '/proc/kmsg',
    '/proc/self/environ',
    '/sys/kernel/notes',
    'sub',
    'loop-1',
  ]) {
    for (const said of [
      await yard.files.read({ path }, { reach }),
      await yard.files.write({ path, content: 'x' }, { reach }),
      await yard.files.edit({ path, old_text: '', new_text: 'x' }, { reach }),
    ]) {
      expect(said, path).toMatchObject({ isError: true });
    }
    expect(typeof (await yard.files.tools.write.prepare?.({ path, content: 'x' }, yard.files.context)), path).toBe('string');
  }
  expect(performance.now() - begun).toBeLessThan(10_000);
  socket.close();
});

test('a file that was removed is not read under its old name', async () => {
  using files = createFileTools();
  writeFileSync(files.dir.file('a (deleted)'), 'x');
  expect((await files.read({ path: 'a (deleted)' })).text).toBe('1\tx');
  expect((await files.write({ path: 'a (deleted)', content: 'y' })).isError).toBe(false);
});

/** On a busy machine fewer swaps must do; `npm run test:faults` waits for all of them. */
const swapMs = sized({ short: 1_500, long: 5_000, full: 25_000 });
/** Swaps as fast as it can. */
const swapper = `
  const fs = require('node:fs');
  const [file, secret, dir, outside, most] = process.argv.slice(1);
  console.log('swapping');
  const until = Date.now() + Number(most);
  for (let i = 0; i < 10000 && Date.now() < until; i++) {
    fs.symlinkSync(secret, file + '.link'); fs.renameSync(file + '.link', file);
    fs.writeFileSync(file + '.file', 'inside\\n'); fs.renameSync(file + '.file', file);
    if (i % 4) continue;
    fs.renameSync(dir, dir + '.away'); insist(() => fs.symlinkSync(outside, dir));
    fs.unlinkSync(dir); insist(() => fs.renameSync(dir + '.away', dir));
  }
  // The directory may be made by the other side while it is away.
  function insist(work) {
    for (;;) {
      try { return work(); } catch (error) { if (!/^E(EXIST|NOTEMPTY)$/.test(error.code)) throw error; }
      try { fs.rmSync(dir, { recursive: true, force: true }); } catch (error) { if (error.code !== 'ENOTEMPTY') throw error; }
    }
  }
`;

test('while a file and a directory become links up to 10,000 times, nothing outside is changed or read', async () => {
  using yard = makeYard();
  const { files, proj, outside } = yard;
  mkdirSync(join(proj, 'dir'));
  writeFileSync(join(proj, 'dir/secret.txt'), 'inside\n');
  writeFileSync(join(proj, 'file'), 'inside\n');
  const before = yard.snapshot();
  const args = ['-e', swapper, join(proj, 'file'), join(outside, 'secret.txt'), join(proj, 'dir'), outside, `${swapMs}`];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'close');
  let isOver = false;
  void ended.then(() => (isOver = true));
  await once(child.stdout, 'data');
  const said: string[] = [];
  for (let i = 0; !isOver; i++) {
    for (const path of ['file', 'dir/secret.txt', 'dir/new.txt']) {
      said.push((await files.read({ path })).text);
      said.push((await files.write({ path, content: `written ${i}\n` })).text);
      said.push((await files.edit({ path, old_text: 'inside', new_text: 'edited' })).text);
    }
  }
  expect((await ended)[0]).toBe(0);
  expect(said.filter((text) => text.includes('\tsecret'))).toEqual([]);
  expect(said.length).toBeGreaterThan(8);
  expect(yard.snapshot()).toBe(before);
  const left = [proj, join(proj, 'dir')].flatMap((path) => readdirSync(path)).filter((name) => name.startsWith('.berth-'));
  expect(left).toEqual([]);
});

const bytes = 1_000_000;
const source = (name: string): string => JSON.stringify(pathToFileURL(join(import.meta.dirname, '../../src/tools/files', name)).href);
const endless = `
  const { findTarget, replaceTarget } = await import(${source('pinned-targets.ts')});
  for (let i = 0; ; i++) {
    const target = await findTarget(process.argv[1], () => undefined);
    await replaceTarget(target, Buffer.alloc(${bytes}, 'ab'[i % 2]));
    await target[Symbol.asyncDispose]();
    process.stdout.write(i + '\\n');
  }
`;

test('a writer that is killed leaves the old file or the new one', async () => {
  using dir = makeTempDir();
  for (let round = 1; round <= 4; round++) {
    const args = ['--import', 'tsx', '--input-type=module', '-e', endless, dir.file('a')];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = once(child, 'close');
    for await (const line of createInterface(child.stdout)) if (Number(line) >= round) child.kill('SIGKILL');
    expect((await ended)[1]).toBe('SIGKILL');
    const text = readFileSync(dir.file('a'));
    expect(text.length).toBe(bytes);
    expect(text.every((byte) => byte === text[0])).toBe(true);
    const left = readdirSync(dir.path).filter((name) => name !== 'a');
    expect(left.length).toBeLessThanOrEqual(1);
    for (const name of left) {
      expect(name).toMatch(/^\.berth-[0-9a-f]+$/);
      rmSync(dir.file(name));
    }
  }
});

test('no descriptor is left open, whatever happened', async () => {
  using yard = makeYard();
  const countOpen = (): number => readdirSync('/proc/self/fd').length;
  const use = async (): Promise<void> => {
    for (const escape of escapes) {
      const path = escape(yard);
      await yard.files.read({ path });
      await yard.files.write({ path, content: 'x' });
      await yard.files.edit({ path, old_text: 'x', new_text: 'y' });
    }
    await yard.files.write({ path: `n/${Math.random()}/a`, content: 'x' });
  };
  await use();
  const before = countOpen();
  for (let i = 0; i < 5; i++) await use();
  expect(countOpen()).toBeLessThanOrEqual(before + 2);
});
