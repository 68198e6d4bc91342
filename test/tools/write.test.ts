import { chmodSync, linkSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { isRoot } from '../support/processes.js';
import { createFileTools } from '../support/file-tools.js';

test('a new file is created with the directories it needs', async () => {
  using files = createFileTools();
  const said = await files.write({ path: 'a/b/c.txt', content: 'one\ntwo\n' });
  expect(said).toMatchObject({
    text: 'Created a/b/c.txt (2 lines, 8 bytes).',
    isError: false,
    details: { counts: { added: 2, removed: 0 } },
  });
  expect(said.details?.diff).toBe('--- /dev/null\n+++ a/b/c.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n');
  expect(readFileSync(files.dir.file('a/b/c.txt'), 'utf8')).toBe('one\ntwo\n');
  expect(readdirSync(files.dir.file('a/b'))).toEqual(['c.txt']);
});

test('a file that is there must be read before it is replaced, by the same session', async () => {
  using files = createFileTools();
  writeFileSync(files.dir.file('a'), 'mine\n');
  const refusal = { isError: true, text: 'a exists and was not read in this session. Read it first.' };
  expect(await files.write({ path: 'a', content: 'x' })).toMatchObject(refusal);
  await files.read({ path: 'a' }, { sessionId: 'ses_2' });
  expect(await files.write({ path: 'a', content: 'x' })).toMatchObject(refusal);
  expect(await files.tools.write.prepare?.({ path: 'a', content: 'x' }, files.context)).toBe(refusal.text);
  await files.read({ path: 'a' });
  expect(await files.write({ path: 'a', content: 'x' })).toMatchObject({ isError: false, details: { counts: { added: 1, removed: 1 } } });
  expect(await files.write({ path: 'a', content: 'y' })).toMatchObject({ isError: false });
});

test('a file that was changed since it was read is not replaced; one that was only touched is', async () => {
  using files = createFileTools();
  writeFileSync(files.dir.file('a'), 'mine\n');
  await files.read({ path: 'a' });
  writeFileSync(files.dir.file('a'), 'same size'.slice(0, 5));
  expect(await files.write({ path: 'a', content: 'x' })).toMatchObject({
    isError: true,
    text: 'a was changed since it was read. Read it again.',
  });
  writeFileSync(files.dir.file('a'), 'mine\n');
  utimesSync(files.dir.file('a'), 1, 1);
  expect(await files.write({ path: 'a', content: 'x' })).toMatchObject({ isError: false });
});

test('an empty file, and what the session wrote itself, can be replaced at once', async () => {
  using files = createFileTools();
  writeFileSync(files.dir.file('a'), '');
  expect((await files.write({ path: 'a', content: 'x' })).isError).toBe(false);
  expect((await files.write({ path: 'b', content: 'x' })).isError).toBe(false);
  expect((await files.write({ path: 'b', content: 'y\n' })).text).toBe(
    'Replaced b (1 line, 2 bytes).\n\n--- b\n+++ b\n@@ -1,1 +1,1 @@\n-x\n\\ No newline at end of file\n+y\n',
  );
});

test('binary data that was looked at can be replaced, without a diff', async () => {
  using files = createFileTools();
  writeFileSync(files.dir.file('a'), Buffer.alloc(100));
  await files.read({ path: 'a' });
  const said = await files.write({ path: 'a', content: 'text' });
  expect(said).toMatchObject({ isError: false, details: undefined });
});

test('the same content again changes nothing', async () => {
  using files = createFileTools();
  await files.write({ path: 'a', content: 'x' });
  const before = statSync(files.dir.file('a'));
  expect((await files.write({ path: 'a', content: 'x' })).text).toBe('a already has exactly this content.');
  expect(statSync(files.dir.file('a')).ino).toBe(before.ino);
});

test.for([0o600, 0o644, 0o755, 0o2755, 0o640])('a replaced file keeps its rights: %o', async (mode) => {
  using files = createFileTools();
  await files.write({ path: 'a', content: 'x' });
  chmodSync(files.dir.file('a'), mode);
  expect((await files.write({ path: 'a', content: 'y' })).isError).toBe(false);
  expect(statSync(files.dir.file('a')).mode & 0o7777).toBe(mode);
});

test.runIf(isRoot)('a replaced file keeps its owner', async () => {
  using files = createFileTools();
  await files.write({ path: 'a', content: 'x' });
  const { chownSync } = await import('node:fs');
  chownSync(files.dir.file('a'), 1234, 4321);
  chmodSync(files.dir.file('a'), 0o2750);
  await files.write({ path: 'a', content: 'y' });
  expect(statSync(files.dir.file('a'))).toMatchObject({ uid: 1234, gid: 4321 });
  expect(statSync(files.dir.file('a')).mode & 0o7777).toBe(0o2750);
});

test('a link inside of the workspace is followed, and stays a link', async () => {
  using files = createFileTools();
  mkdirSync(files.dir.file('d'));
  writeFileSync(files.dir.file('d/a'), 'x');
  symlinkSync('d/../d/a', files.dir.file('one'));
  symlinkSync('one', files.dir.file('two'));
  await files.read({ path: 'two' });
  expect((await files.write({ path: 'two', content: 'y' })).isError).toBe(false);
  expect(readFileSync(files.dir.file('d/a'), 'utf8')).toBe('y');
  symlinkSync('fresh', files.dir.file('dangling'));
  expect((await files.write({ path: 'dangling', content: 'z' })).isError).toBe(false);
  expect(readFileSync(files.dir.file('fresh'), 'utf8')).toBe('z');
});

test('a file with another name outside is replaced here and unchanged there', async () => {
  using outside = createFileTools();
  using files = createFileTools();
  writeFileSync(outside.dir.file('a'), 'x');
  linkSync(outside.dir.file('a'), files.dir.file('a'));
  await files.read({ path: 'a' });
  expect((await files.write({ path: 'a', content: 'y' })).isError).toBe(false);
  expect(readFileSync(outside.dir.file('a'), 'utf8')).toBe('x');
});

test('an approval holds for what was there when it was given', async () => {
  using files = createFileTools();
  const args = { path: 'a', content: 'new\n' };
  const fresh = await files.tools.write.prepare?.(args, files.context);
  expect(fresh).toMatchObject({
    accesses: [{ kind: 'write', path: files.dir.file('a') }],
    diff: '--- /dev/null\n+++ a\n@@ -0,0 +1,1 @@\n+new\n',
    basis: expect.stringMatching(/^absent /),
  });
  const { basis } = fresh as { basis: string };
  expect(readdirSync(files.dir.path)).toEqual([]);
  writeFileSync(files.dir.file('a'), 'somebody was faster\n');
  await files.read({ path: 'a' });
  expect(await files.write(args, { basis })).toMatchObject({ isError: true, text: expect.stringContaining('when this call was approved') });
  const again = (await files.tools.write.prepare?.(args, files.context)) as { basis: string; diff: string };
  expect(again.diff).toContain('-somebody was faster\n+new\n');
  expect((await files.write(args, { basis: again.basis })).isError).toBe(false);
});

test('an approval does not move to another file through a link', async () => {
  using files = createFileTools();
  for (const name of ['a', 'b']) writeFileSync(files.dir.file(name), '');
  symlinkSync('a', files.dir.file('link'));
  const { basis } = (await files.tools.write.prepare?.({ path: 'link', content: 'x' }, files.context)) as { basis: string };
  const { unlinkSync } = await import('node:fs');
  unlinkSync(files.dir.file('link'));
  symlinkSync('b', files.dir.file('link'));
  expect((await files.write({ path: 'link', content: 'x' }, { basis })).isError).toBe(true);
  expect(readFileSync(files.dir.file('b'), 'utf8')).toBe('');
});

test('what cannot be written is said: directories, files as directories, halves of characters', async () => {
  using files = createFileTools();
  mkdirSync(files.dir.file('d'));
  writeFileSync(files.dir.file('f'), 'x');
  symlinkSync('nowhere/../x', files.dir.file('lost'));
  for (const path of ['d', 'd/', '.', 'f/a', 'new/', 'lost', 'x'.repeat(256)]) {
    expect(await files.write({ path, content: 'x' }), path).toMatchObject({ isError: true });
  }
  await expect(files.write({ path: 'a', content: '\ud800' })).rejects.toThrow('surrogate');
  expect(readdirSync(files.dir.path).sort()).toEqual(['d', 'f', 'lost']);
});

test('what the model is told of a long diff is short, and people get more of it', async () => {
  using files = createFileTools();
  await files.write({ path: 'a', content: Array.from({ length: 20_000 }, (_, i) => `old ${i}\n`).join('') });
  const said = await files.write({ path: 'a', content: Array.from({ length: 20_000 }, (_, i) => `new ${i}\n`).join('') });
  expect(said.details?.counts).toEqual({ added: 20_000, removed: 20_000 });
  expect(said.text.length).toBeLessThan(9_000);
  expect(said.details?.diff?.length).toBeLessThan(50_000);
  expect(said.text).toMatch(/\[\d+ more lines of the diff are not shown\]\n$/);
});
