import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Ruling } from '../../src/policy/port.js';
import { findBubblewrap } from '../../src/sandbox/bubblewrap.js';
import { createGlobTool } from '../../src/tools/search/glob.js';
import { createGrepTool } from '../../src/tools/search/grep.js';
import { createLsTool } from '../../src/tools/files/ls.js';
import type { Tool, ToolContext } from '../../src/tools/port.js';
import { findRipgrep } from '../../src/tools/search/ripgrep.js';
import { faultSize } from '../support/fault-sizes.js';
import { createFileTools, type FileTools } from '../support/file-tools.js';
import { callTool } from '../support/tool-context.js';
import { makeWorld } from './judge-world.js';

/** Makes a link lead inside and outside in turn, each time in one step, until it is killed. */
const swapper = `
  const fs = require('node:fs');
  const [link, inside, outside] = process.argv.slice(1);
  for (let i = 0; ; i++) {
    fs.symlinkSync(i % 2 ? inside : outside, link + '.next');
    fs.renameSync(link + '.next', link);
    if (i === 0) console.log('swapping');
  }
`;

/** Puts a link in the place of a directory and the directory back, in turn. */
const directorySwapper = `
  const fs = require('node:fs');
  const [directory, link] = process.argv.slice(1);
  for (let i = 0; ; i++) {
    fs.renameSync(directory, directory + '.away');
    fs.renameSync(link, directory);
    fs.renameSync(directory, link);
    fs.renameSync(directory + '.away', directory);
    if (i === 0) console.log('swapping');
  }
`;

interface Swapper extends AsyncDisposable {
  isRunning(): boolean;
}

async function startSwapper(program: string, ...args: string[]): Promise<Swapper> {
  const child = spawn(process.execPath, ['-e', program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'close');
  await once(child.stdout, 'data');
  return {
    isRunning: () => child.exitCode === null && child.signalCode === null,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** On a busy machine fewer rounds must do; `npm run test:faults` makes more of them. */
const raceMs = faultSize === 'full' ? 25_000 : 5_000;
const roundsMax = 2_000;

/** One call as the engine makes it: prepared, judged, and run with the reach that the judgement gave. */
async function call(files: FileTools, tool: Tool, args: unknown, judge: (accesses: never[]) => Ruling): Promise<string> {
  const { context } = files;
  const prepared = (await tool.prepare?.(args, context)) ?? 'nothing was prepared';
  if (typeof prepared === 'string') return prepared;
  const ruling = judge(prepared.accesses as never[]);
  if (ruling.action !== 'allow') return ruling.why;
  const granted: ToolContext = { ...context, reach: ruling.reach, basis: prepared.basis };
  return (await callTool(tool, args, granted)).text;
}

test('a link that is exchanged while files are read, written and edited never leads a call outside', async () => {
  using world = makeWorld();
  const { workspace, home } = world;
  const inside = join(workspace, 'inside');
  const ssh = join(home, '.ssh');
  mkdirSync(inside);
  writeFileSync(join(inside, 'id'), 'harmless\n');
  using files = createFileTools(undefined, workspace);
  const link = join(workspace, 'dir');
  const said: string[] = [];
  {
    await using running = await startSwapper(swapper, link, inside, ssh);
    const until = performance.now() + raceMs;
    for (let i = 0; i < roundsMax && performance.now() < until; i++) {
      for (const [tool, args] of [
        ...Array.from({ length: 8 }, () => ['read', { path: 'dir/id' }] as const),
        ['write', { path: 'dir/id', content: `harmless ${i}\n` }],
        ['write', { path: `dir/new-${i % 4}`, content: 'new\n' }],
        ['edit', { path: 'dir/id', old_text: 'harmless', new_text: 'harmless' }],
        ['edit', { path: 'dir/authorized_keys', old_text: '', new_text: 'key\n' }],
      ] as const) {
        said.push(await call(files, files.tools[tool], args, (accesses) => world.judge(tool, accesses, { mode: 'auto_edit' })));
      }
    }
    expect(running.isRunning()).toBe(true);
  }
  expect(said.filter((text) => text.includes('secret\n') || text.includes('\tsecret'))).toEqual([]);
  expect(said.some((text) => text.includes('harmless'))).toBe(true);
  expect(readdirSync(ssh)).toEqual(['id']);
  expect(readFileSync(join(ssh, 'id'), 'utf8')).toBe('secret');
});

for (const { name, ripgrep, settings } of [
  { name: 'by ripgrep in a sandbox (needs rg and bubblewrap)', ripgrep: findRipgrep, settings: {} },
  { name: 'on a machine without a sandbox', ripgrep: findRipgrep, settings: { noSandbox: 'there is none' } },
  { name: 'without ripgrep', ripgrep: () => Promise.resolve(undefined), settings: {} },
]) {
  test(`a directory that is exchanged with a link while it is searched never tells what is outside, ${name}`, async () => {
    using world = makeWorld();
    const { workspace, home } = world;
    const ssh = join(home, '.ssh');
    const directory = join(workspace, 'dir');
    mkdirSync(directory);
    // The same names inside and outside: nothing but what is in them tells them apart.
    writeFileSync(join(directory, 'id'), 'harmless\n');
    writeFileSync(join(ssh, 'only-outside'), 'secret\n');
    symlinkSync(ssh, join(workspace, 'link'));
    using files = createFileTools(undefined, workspace);
    const found = findBubblewrap();
    const tools = {
      grep: createGrepTool({ ripgrep, bubblewrap: () => found }) as Tool,
      glob: createGlobTool() as Tool,
      ls: createLsTool() as Tool,
      read: files.tools.read,
    };
    const said: string[] = [];
    {
      await using running = await startSwapper(directorySwapper, directory, join(workspace, 'link'));
      const until = performance.now() + raceMs;
      for (let i = 0; i < roundsMax && performance.now() < until; i++) {
        const calls = [
          ...Array.from({ length: 4 }, () => ['grep', { pattern: 'secret|harmless' }] as const),
          ['grep', { pattern: 'secret|harmless', path: 'dir' }],
          ['grep', { pattern: 'secret', mode: 'files' }],
          ['glob', { pattern: '**/*' }],
          ['glob', { pattern: '*', path: 'dir' }],
          ['ls', { path: 'dir' }],
          ['read', { path: 'dir/id' }],
        ] as const;
        const one = async ([tool, args]: (typeof calls)[number]): Promise<string> =>
          call(files, tools[tool], args, (accesses) => world.judge(tool, accesses, { mode: 'auto_edit', readOnly: true, settings }));
        said.push(...(await Promise.all(calls.map(one))));
      }
      expect(running.isRunning()).toBe(true);
    }
    expect(said.filter((text) => /: secret|\tsecret|only-outside/.test(text))).toEqual([]);
    expect(said.some((text) => text.includes('1: harmless'))).toBe(true);
  });
}

test('a directory that is not the one any more that was judged is not searched (needs rg and bubblewrap)', async () => {
  using world = makeWorld();
  using files = createFileTools(undefined, world.workspace);
  const found = findBubblewrap();
  const elsewhere = join(world.home, 'elsewhere');
  mkdirSync(elsewhere);
  writeFileSync(join(elsewhere, 'a'), 'secret\n');
  const grep = createGrepTool({
    bubblewrap() {
      // The moment between the judgement and the start.
      renameSync(join(world.workspace, 'src'), join(world.workspace, 'old'));
      symlinkSync(elsewhere, join(world.workspace, 'src'));
      return found;
    },
  }) as Tool;
  const said = await call(files, grep, { pattern: 'secret', path: 'src' }, (accesses) => world.judge('grep', accesses, { readOnly: true }));
  expect(said).toContain('was moved or replaced just now');
});

test('what was allowed without asking grants nothing: where it leads is judged when it is used', () => {
  using world = makeWorld();
  const { reach, action } = world.read('src', { mode: 'auto_edit' });
  expect(action).toBe('allow');
  expect(reach.refuses('read', join(world.workspace, 'a.txt'))).toBeUndefined();
  expect(reach.refuses('read', join(world.home, '.ssh', 'id'))).toContain('holds secrets');
  expect(reach.refuses('write', join(world.home, 'notes'))).toContain('outside the workspace');
});

test('a yes is for the real path that was shown, whatever the name leads to afterwards', () => {
  using world = makeWorld();
  const [one, other] = [join(world.home, 'one'), join(world.home, 'other')];
  for (const path of [one, other]) writeFileSync(path, 'x');
  symlinkSync(one, join(world.workspace, 'link'));
  const { action, why, paths, reach } = world.read('link');
  expect([action, paths]).toEqual(['ask', [{ kind: 'read', real: one }]]);
  expect(why).toContain(one);
  expect(reach.refuses('read', one)).toBeUndefined();
  expect(reach.refuses('read', other)).toContain(other);
  expect(reach.refuses('write', one)).toContain(one);
});

test('a link to secrets is asked about by the path that it leads to', () => {
  using world = makeWorld();
  symlinkSync(join(world.home, '.ssh'), join(world.workspace, 'notes'));
  expect(world.read('notes/id').why).toContain(join(world.home, '.ssh', 'id'));
});

test('what a tool has found with a descriptor is judged, not what the name leads to later', () => {
  using world = makeWorld();
  const real = join(world.home, '.ssh', 'id');
  const access = { kind: 'write', path: join(world.workspace, 'a.txt'), real } as const;
  expect(world.judge('write', access, { mode: 'auto_edit' })).toMatchObject({ action: 'ask', paths: [{ kind: 'write', real }] });
});
