import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createLsTool } from '../../src/tools/files/ls.js';
import { makeTempDir } from '../support/temp-dir.js';
import { callTool, toolContext } from '../support/tool-context.js';

const ls = createLsTool();

test('entries come sorted, hidden ones too, with what they are', async () => {
  using dir = makeTempDir();
  mkdirSync(dir.file('src'));
  writeFileSync(dir.file('.env'), 'x');
  writeFileSync(dir.file('b'), 'x'.repeat(2_048));
  symlinkSync('../elsewhere', dir.file('a'));
  execFileSync('mkfifo', [dir.file('pipe')]);
  const said = await callTool(ls, {}, toolContext({ cwd: dir.path }));
  expect(said).toMatchObject({ isError: false, details: { counts: { entries: 5 } } });
  expect(said.text).toBe('.env  1 byte\na@ -> ../elsewhere\nb  2.0 KB\npipe  (FIFO)\nsrc/');
});

test('names cannot pretend to be others', async () => {
  using dir = makeTempDir();
  writeFileSync(dir.file('a\nb'), '');
  writeFileSync(dir.file('\u001b[31mred\u202e'), '');
  symlinkSync('x\ny', dir.file('link'));
  const { text } = await callTool(ls, {}, toolContext({ cwd: dir.path }));
  expect(text).toBe('\\x1b[31mred\\u{202e}  0 bytes\na\\x0ab  0 bytes\nlink@ -> x\\x0ay');
});

test('a large directory is bounded, and says so', async () => {
  using dir = makeTempDir();
  for (let i = 0; i < 600; i++) writeFileSync(dir.file(`f${i}`), '');
  const context = toolContext({ cwd: dir.path });
  const said = await callTool(ls, {}, context);
  expect(said.text.split('\n')).toHaveLength(502);
  expect(said.text).toContain('[500 of 600 entries. Use limit or glob for the others.]');
  expect((await callTool(ls, { limit: 600 }, context)).text).not.toContain('[');
});

test('what is no directory is said', async () => {
  using dir = makeTempDir();
  mkdirSync(dir.file('empty'));
  writeFileSync(dir.file('f'), 'xy');
  symlinkSync('loop', dir.file('loop'));
  execFileSync('mkfifo', [dir.file('pipe')]);
  symlinkSync('/etc', dir.file('etc'));
  const context = toolContext({ cwd: dir.path });
  const say = async (path: string): Promise<string> => (await callTool(ls, { path }, context)).text;
  expect(await say('empty')).toBe('empty is empty.');
  expect(await say('f')).toBe('f is a file (2 bytes). Use read.');
  expect(await say('no')).toBe('no does not exist.');
  expect(await say('loop')).toBe('loop is a loop of symbolic links.');
  expect(await say('pipe')).toBe('pipe is a FIFO, not a file.');
  for (const path of ['etc', '/etc', '..', '/proc/self/root/etc', '/proc/self/fd'])
    expect(await say(path), path).toContain('may not be read');
  const all = { ...context, reach: { ...context.reach, refuses: () => undefined } };
  expect((await callTool(ls, { path: '/proc/self/fd' }, all)).text).toContain('directory of the kernel');
});

test('it stops when it is told to', async () => {
  using dir = makeTempDir();
  writeFileSync(dir.file('f'), '');
  expect((await callTool(ls, {}, toolContext({ cwd: dir.path, signal: AbortSignal.abort() }))).text).toBe('Stopped.');
});

test('it only looks, and says where', async () => {
  expect([ls.readOnly, ls.resumable]).toEqual([true, true]);
  expect(ls.description.length).toBeLessThanOrEqual(120);
  expect(await ls.prepare?.({}, { sessionId: 's', cwd: '/w' })).toEqual({ accesses: [{ kind: 'read', path: '/w' }] });
});
