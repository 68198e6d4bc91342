import { chmodSync, closeSync, ftruncateSync, openSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { limits } from '../../src/protocol/limits.js';
import { createFileTools } from '../support/file-tools.js';
import { badFields } from '../support/tool-context.js';

/** The file after the edits, and what was said. */
async function edited(before: string | Buffer, args: Record<string, unknown>) {
  using files = createFileTools();
  writeFileSync(files.dir.file('a'), before);
  await files.read({ path: 'a' });
  const said = await files.edit({ path: 'a', ...args });
  expect(readdirSync(files.dir.path)).toEqual(['a']);
  return { ...said, after: readFileSync(files.dir.file('a')).toString('utf8') };
}

test('a piece of text is replaced where it is', async () => {
  const said = await edited('one\ntwo\nthree\n', { old_text: 'two', new_text: '2' });
  expect(said).toMatchObject({ after: 'one\n2\nthree\n', isError: false, details: { counts: { added: 1, removed: 1 } } });
  expect(said.text).toBe('Edited a in 1 place.\n\n--- a\n+++ a\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n');
});

test('several edits are applied one after the other, all or none', async () => {
  const edits = [
    { old_text: 'a', new_text: 'b' },
    { old_text: 'b', new_text: 'c' },
  ];
  expect((await edited('a\n', { edits })).after).toBe('c\n');
  const failed = await edited('a\n', { edits: [...edits, { old_text: 'nothing like it', new_text: '' }] });
  expect(failed).toMatchObject({ after: 'a\n', isError: true, text: expect.stringContaining('Edit 3 of 3: old_text was not found') });
});

test.for([
  // before, old, new, after
  ['a\r\nb\r\nc\r\n', 'a\nb\n', 'a\nB\nx\n', 'a\r\nB\r\nx\r\nc\r\n'],
  ['a\r\nb\r\nc\r\n', 'b\r\n', 'x\r\ny\r\n', 'a\r\nx\r\ny\r\nc\r\n'],
  ['a\r\nb', 'b', 'b\nc', 'a\r\nb\r\nc'],
  ['a\nb\r\nc\n', 'c', 'C', 'a\nb\r\nC\n'],
  ['a\nb\r\nc\n', 'a\nb\nc', 'a\nb\nX', 'a\nb\r\nX\n'],
  ['a\nb\r\nc\n', 'b\n', 'b\nbb\n', 'a\nb\r\nbb\r\nc\n'],
  ['a\nb\n', 'a\r\nb', 'x\r\ny', 'x\ny\n'],
  ['a\rb\n', 'a\rb', 'x', 'x\n'],
  ['one\ntwo', 'two', 'three', 'one\nthree'],
  ['one\ntwo', 'one\n', '', 'two'],
  ['\ufeffone\n', 'one', 'two', '\ufefftwo\n'],
  ['\ufeffone\r\n', 'one\n', '', '\ufeff'],
  ['aaa', 'aaa', '$& $1 \\n', '$& $1 \\n'],
  ['x😀y', '😀', '😁', 'x😁y'],
] as const)('%j with %j replaced by %j is %j', async ([before, old_text, new_text, after]) => {
  expect(await edited(before, { old_text, new_text })).toMatchObject({ after, isError: false });
});

test('all places are replaced when that is wanted, and otherwise there must be one', async () => {
  expect((await edited('a b a\r\na', { old_text: 'a', new_text: 'aa', replace_all: true })).after).toBe('aa b aa\r\naa');
  expect((await edited('aaaa', { old_text: 'aa', new_text: 'b', replace_all: true })).after).toBe('bb');
  const several = await edited('x\na\ny\na\na a\n', { old_text: 'a', new_text: 'b' });
  expect(several).toMatchObject({ isError: true, text: expect.stringContaining('is there 4 times, at lines 2, 4, 5, 5.') });
  expect(await edited('aaa', { old_text: 'aa', new_text: 'b' })).toMatchObject({ isError: true, after: 'aaa' });
});

test('the same text again is no change and no error, if it is there', async () => {
  expect(await edited('a\n', { old_text: 'a', new_text: 'a' })).toMatchObject({
    isError: false,
    text: expect.stringContaining('as it was'),
  });
  expect(await edited('a\n', { old_text: 'b', new_text: 'b' })).toMatchObject({ isError: true });
});

test('what is not found is answered with the lines that look like it', async () => {
  const text = 'function add(a, b) {\n    return a + b;\n}\n\nfunction sub(a, b) {\n    return a - b;\n}\n';
  const said = await edited(text, { old_text: '  return a - b ;', new_text: '' });
  expect(said.isError).toBe(true);
  expect(said.text).toContain('6\t    return a - b;');
  expect((await edited('x\n', { old_text: 'entirely different', new_text: '' })).text).not.toContain('look like');
  expect((await edited('one\n', { old_text: '1\tone', new_text: '' })).text).toContain('Leave out the line numbers');
});

test('looking for alike lines in a large file takes little time', async () => {
  const text = Array.from({ length: 200_000 }, (_, i) => `const value = compute(${i}, options);\n`).join('');
  expect((await edited(text, { old_text: 'const value = compute(1, option)', new_text: '' })).text).toContain('look like it');
});

test('an empty old text creates a file or fills an empty one, and nothing else', async () => {
  using files = createFileTools();
  expect(await files.edit({ path: 'd/a', old_text: '', new_text: 'one\n' })).toMatchObject({ isError: false, text: 'Created d/a.' });
  expect(readFileSync(files.dir.file('d/a'), 'utf8')).toBe('one\n');
  writeFileSync(files.dir.file('b'), '');
  expect((await files.edit({ path: 'b', old_text: '', new_text: 'two\n' })).isError).toBe(false);
  expect(await files.edit({ path: 'b', old_text: '', new_text: 'x' })).toMatchObject({
    isError: true,
    text: expect.stringContaining('not empty'),
  });
  expect(await files.edit({ path: 'c', old_text: 'x', new_text: 'y' })).toMatchObject({
    isError: true,
    text: expect.stringContaining('does not exist'),
  });
  const twice = [
    { old_text: '', new_text: 'x' },
    { old_text: '', new_text: 'y' },
  ];
  expect((await files.edit({ path: 'c', edits: twice })).isError).toBe(true);
  expect(readdirSync(files.dir.path).sort()).toEqual(['b', 'd']);
});

test.for([
  ['binary data', Buffer.from([1, 2, 0, 3, 0, 0, 0, 97])],
  ['UTF-16LE', Buffer.from('\ufeffabc', 'utf16le')],
  ['not valid UTF-8', Buffer.from('abc caf\xe9', 'latin1')],
  ['PDF', Buffer.from('%PDF-1.4 abc')],
] as const)('%s is refused and stays as it was', async ([kind, bytes]) => {
  const said = await edited(bytes, { old_text: 'a', new_text: 'b' });
  expect(said).toMatchObject({ isError: true, text: expect.stringContaining(kind), after: bytes.toString('utf8') });
});

test('a file that is too large, or would be, is refused', async () => {
  using files = createFileTools();
  const large = openSync(files.dir.file('large'), 'w');
  ftruncateSync(large, 200 * 1024 * 1024);
  closeSync(large);
  await files.read({ path: 'large' });
  expect(await files.edit({ path: 'large', old_text: 'a', new_text: 'b' })).toMatchObject({
    isError: true,
    text: expect.stringContaining('too large'),
  });
  writeFileSync(files.dir.file('a'), 'x'.repeat(2_000).concat('\n').repeat(1_000));
  await files.read({ path: 'a' });
  const grown = await files.edit({
    path: 'a',
    old_text: 'x',
    new_text: 'y'.repeat(limits.textFileBytesMax / 1_000_000),
    replace_all: true,
  });
  expect(grown).toMatchObject({ isError: true, text: expect.stringContaining('would become too large') });
});

test('a file that was not read is edited where the old text is there exactly once, and not in several places', async () => {
  using files = createFileTools();
  writeFileSync(files.dir.file('a'), 'one two one\n');
  expect(await files.edit({ path: 'a', old_text: 'two', new_text: '2' })).toMatchObject({ isError: false });
  expect(readFileSync(files.dir.file('a'), 'utf8')).toBe('one 2 one\n');
  writeFileSync(files.dir.file('b'), 'one two one\n');
  expect(await files.edit({ path: 'b', old_text: 'one', new_text: '1' })).toMatchObject({
    isError: true,
    text: expect.stringContaining('there 2 times'),
  });
  expect(await files.edit({ path: 'b', old_text: 'one', new_text: '1', replace_all: true })).toMatchObject({
    isError: true,
    text: 'b exists and was not read in this session. Read it first.',
  });
  expect(readFileSync(files.dir.file('b'), 'utf8')).toBe('one two one\n');
});

test('a file that was read must be what it was then', async () => {
  using files = createFileTools();
  writeFileSync(files.dir.file('a'), 'secret words\n');
  await files.read({ path: 'a' });
  writeFileSync(files.dir.file('a'), 'secret wordz\n');
  expect(await files.edit({ path: 'a', old_text: 'secret', new_text: 'x' })).toMatchObject({
    isError: true,
    text: expect.stringContaining('Read it again'),
  });
});

test('what the preparation finds in a file that was not read is for whoever may read it', async () => {
  using files = createFileTools();
  writeFileSync(files.dir.file('a'), 'password = hunter2\n');
  const at = { path: files.dir.file('a'), real: files.dir.file('a') };
  const accesses = [
    { kind: 'read', ...at },
    { kind: 'write', ...at },
  ];
  for (const [old_text, found] of [
    ['password = hunter', { diff: expect.any(String) }],
    ['password = fisher', { problem: expect.stringContaining('was not found') }],
  ] as const) {
    expect(await files.tools.edit.prepare?.({ path: 'a', old_text, new_text: 'x' }, files.context)).toMatchObject({ accesses, ...found });
  }
});

test('an edit is prepared with its diff and holds for what it was prepared on', async () => {
  using files = createFileTools();
  writeFileSync(files.dir.file('a'), 'one\n');
  await files.read({ path: 'a' });
  const args = { path: 'a', old_text: 'one', new_text: 'two' };
  const prepared = (await files.tools.edit.prepare?.(args, files.context)) as { basis: string; diff: string; accesses: unknown };
  expect(prepared).toMatchObject({
    accesses: [
      { kind: 'read', path: files.dir.file('a') },
      { kind: 'write', path: files.dir.file('a') },
    ],
    diff: '--- a\n+++ a\n@@ -1,1 +1,1 @@\n-one\n+two\n',
  });
  writeFileSync(files.dir.file('a'), 'one\nmore\n');
  await files.read({ path: 'a' });
  expect(await files.edit(args, { basis: prepared.basis })).toMatchObject({ isError: true, text: expect.stringContaining('approved') });
  expect(readFileSync(files.dir.file('a'), 'utf8')).toBe('one\nmore\n');
});

test('an edit keeps the rights of the file, and a link stays one', async () => {
  using files = createFileTools();
  writeFileSync(files.dir.file('a'), 'one\n');
  chmodSync(files.dir.file('a'), 0o755);
  symlinkSync('a', files.dir.file('link'));
  await files.read({ path: 'link' });
  expect((await files.edit({ path: 'link', old_text: 'one', new_text: 'two' })).isError).toBe(false);
  expect(statSync(files.dir.file('a')).mode & 0o7777).toBe(0o755);
  expect(readFileSync(files.dir.file('a'), 'utf8')).toBe('two\n');
});

test('two sessions that edit one file at once lose nothing: one of them is told to read again', async () => {
  using files = createFileTools();
  writeFileSync(files.dir.file('a'), 'one\ntwo\n');
  const other = { sessionId: 'ses_2' };
  await files.read({ path: 'a' });
  await files.read({ path: 'a' }, other);
  const said = await Promise.all([
    files.edit({ path: 'a', old_text: 'one', new_text: '1' }),
    files.edit({ path: 'a', old_text: 'two', new_text: '2' }, other),
  ]);
  expect(said.filter(({ isError }) => isError)).toHaveLength(1);
  expect(['1\ntwo\n', 'one\n2\n']).toContain(readFileSync(files.dir.file('a'), 'utf8'));
});

test('arguments that make no edit are refused', () => {
  using files = createFileTools();
  const fits = (args: unknown): boolean => badFields(files.tools.edit, args) === undefined;
  expect(fits({ path: 'a', old_text: 'x', new_text: 'y' })).toBe(true);
  expect(fits({ path: 'a' })).toBe(false);
  expect(fits({ path: 'a', old_text: 'x' })).toBe(false);
  expect(fits({ path: 'a', edits: [] })).toBe(false);
  expect(fits({ path: 'a', edits: [{ old_text: 'x', new_text: 'y' }], old_text: 'x', new_text: 'y' })).toBe(false);
  expect(fits({ path: 'a', old_text: 'x', new_text: '\udc00' })).toBe(false);
  expect(fits({ path: 'a', edits: Array(101).fill({ old_text: 'x', new_text: 'y' }) })).toBe(false);
});

test('a file that may be written but not read is not edited, and nothing of it is told when it is replaced', async () => {
  using files = createFileTools();
  writeFileSync(files.dir.file('a'), 'hunter2\n');
  await files.read({ path: 'a' });
  const prepared = (await files.tools.write.prepare?.({ path: 'a', content: 'x' }, files.context)) as { basis: string };
  const reach = { ...files.context.reach, refuses: (kind: string) => (kind === 'read' ? 'it is secret' : undefined) };
  const said = await files.edit({ path: 'a', old_text: 'hunter3', new_text: 'x' }, { reach });
  expect(said).toMatchObject({ isError: true, text: 'a may not be read: it is secret.' });
  const replaced = await files.write({ path: 'a', content: 'x' }, { reach, basis: prepared.basis });
  expect(replaced).toMatchObject({ isError: false, text: 'Replaced a (1 line, 1 byte).', details: undefined });
});
