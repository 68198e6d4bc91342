import { closeSync, ftruncateSync, mkdirSync, openSync, symlinkSync, writeFileSync, writeSync } from 'node:fs';
import { expect, test } from 'vitest';
import { limits } from '../../src/protocol/limits.js';
import { createFileTools } from '../support/file-tools.js';

test('lines come with their numbers, and nothing else of them is changed', async () => {
  using files = createFileTools();
  writeFileSync(files.dir.file('a'), 'one\n\n  two\t\nthree');
  expect(await files.read({ path: 'a' })).toMatchObject({ text: '1\tone\n2\t\n3\t  two\t\n4\tthree', isError: false });
});

test('a part says which lines it is and how to go on', async () => {
  using files = createFileTools();
  writeFileSync(files.dir.file('a'), Array.from({ length: 10 }, (_, i) => `line ${i + 1}\n`).join(''));
  expect((await files.read({ path: 'a', offset: 3, limit: 2 })).text).toBe(
    '3\tline 3\n4\tline 4\n\n[Lines 3-4 of 10. Go on with offset: 5.]',
  );
  expect((await files.read({ path: 'a', offset: 9 })).text).toBe('9\tline 9\n10\tline 10\n\n[Lines 9-10 of 10.]');
  expect(await files.read({ path: 'a', offset: 11 })).toMatchObject({ isError: true, text: 'a has 10 lines; there is no line 11.' });
});

test('going on from part to part shows every line once', async () => {
  using files = createFileTools();
  const lines = Array.from({ length: 9_000 }, (_, i) => `${i} ${'x'.repeat(i % 90)}`);
  writeFileSync(files.dir.file('a'), lines.join('\n'));
  const seen: string[] = [];
  for (let offset = 1; offset > 0;) {
    const { text } = await files.read({ path: 'a', offset });
    const [body = '', note = ''] = text.split('\n\n[');
    expect(Buffer.byteLength(body)).toBeLessThan(limits.readTextBytesMax * 1.3);
    seen.push(...body.split('\n').map((line) => line.slice(line.indexOf('\t') + 1)));
    offset = Number(/offset: (\d+)/.exec(note)?.[1] ?? 0);
  }
  expect(seen).toEqual(lines);
});

test('a long line is cut, never inside of a character, and named', async () => {
  using files = createFileTools();
  writeFileSync(files.dir.file('a'), `short\n${'x'.repeat(1_999)}😀${'y'.repeat(100_000)}\nend\n`);
  const { text } = await files.read({ path: 'a' });
  expect(text).toBe(`1\tshort\n2\t${'x'.repeat(1_999)}\n3\tend\n\n[Only the first 2000 characters of line 2 are shown.]`);
});

test('line ends of Windows and byte order marks are not shown', async () => {
  using files = createFileTools();
  writeFileSync(files.dir.file('a'), '\ufeffone\r\ntwo\r\n');
  expect((await files.read({ path: 'a' })).text).toBe('1\tone\n2\ttwo');
});

test.for([
  ['with a mark', '\ufeffone\ntwö\n'],
  ['without', 'one\ntwo\n'],
])('UTF-16 %s is read, and said', async ([, text]) => {
  using files = createFileTools();
  writeFileSync(files.dir.file('le'), Buffer.from(text!, 'utf16le'));
  writeFileSync(files.dir.file('be'), Buffer.from(text!, 'utf16le').swap16());
  const lines = text!.replace('\ufeff', '').split('\n');
  for (const [name, encoding] of [
    ['le', 'UTF-16LE'],
    ['be', 'UTF-16BE'],
  ] as const) {
    const said = `1\t${lines[0]}\n2\t${lines[1]}\n\n[This file is ${encoding}: it can be read but not edited.]`;
    expect((await files.read({ path: name })).text).toBe(said);
  }
});

test('bytes that are not UTF-8 are shown as such, and a NUL far inside is a picture of one', async () => {
  using files = createFileTools();
  writeFileSync(files.dir.file('latin'), Buffer.from('caf\xe9\n', 'latin1'));
  expect((await files.read({ path: 'latin' })).text).toContain('1\tcaf\ufffd\n\n[Bytes that are not UTF-8');
  writeFileSync(files.dir.file('late'), `${'line\n'.repeat(10_000)}a\0b\n`);
  expect((await files.read({ path: 'late', offset: 10_001 })).text).toContain('10001\ta\u2400b');
});

test('an empty file is said to be empty, a directory points to ls, and what is not there is said', async () => {
  using files = createFileTools();
  writeFileSync(files.dir.file('a'), '');
  mkdirSync(files.dir.file('d'));
  expect(await files.read({ path: 'a' })).toMatchObject({ text: 'a is empty.', isError: false });
  expect(await files.read({ path: 'd' })).toMatchObject({ text: 'd is a directory. Use ls.', isError: true });
  expect(await files.read({ path: 'no' })).toMatchObject({ text: 'no does not exist.', isError: true });
  expect(await files.read({ path: 'a/b' })).toMatchObject({ isError: true });
  expect(await files.read({ path: 'x'.repeat(300) })).toMatchObject({ isError: true });
  await expect(files.read({ path: 'a\0b' })).rejects.toThrow('NUL');
});

test.for([
  ['PDF document', Buffer.from('%PDF-1.7\nplain')],
  ['ELF program', Buffer.from('7f454c46020101', 'hex')],
  ['gzip archive', Buffer.from('1f8b0800000000000003', 'hex')],
  ['binary data', Buffer.from([1, 2, 0, 0, 0, 3, 4, 0, 9])],
] as const)('a %s is refused with its kind and size', async ([kind, bytes]) => {
  using files = createFileTools();
  writeFileSync(files.dir.file('a'), Buffer.concat([bytes, Buffer.alloc(2_000)]));
  const { text, isError } = await files.read({ path: 'a' });
  expect(isError).toBe(true);
  expect(text).toContain(kind);
  expect(text).toContain('2.0 KB');
});

const png = Buffer.from('89504e470d0a1a0a0000000d494844520000000200000003', 'hex');
const images: [string, string, Buffer][] = [
  ['image/png', '2x3', Buffer.concat([png, Buffer.alloc(50)])],
  ['image/gif', '2x3', Buffer.concat([Buffer.from('GIF89a'), Buffer.from([2, 0, 3, 0]), Buffer.alloc(20)])],
  ['image/jpeg', '2x3', Buffer.from('ffd8ffe000104a46494600010100000100010000ffc0000b080003000201011100ffd9', 'hex')],
  ['image/webp', '2x3', Buffer.concat([Buffer.from('RIFF\0\0\0\0WEBPVP8X'), Buffer.alloc(8), Buffer.from([1, 0, 0, 2, 0, 0])])],
];

test.for(images)('%s comes back as an image, whatever its name', async ([type, size, bytes]) => {
  using files = createFileTools();
  writeFileSync(files.dir.file('a.txt'), bytes);
  const { content, isError } = await files.read({ path: 'a.txt' });
  expect(isError).toBe(false);
  expect(content).toMatchObject([
    { text: expect.stringContaining(size) },
    { type: 'image', data: bytes.toString('base64'), mime_type: type },
  ]);
});

test('images that no model would take are refused', async () => {
  using files = createFileTools();
  writeFileSync(files.dir.file('large'), Buffer.concat([png, Buffer.alloc(limits.imageBytesMax)]));
  writeFileSync(files.dir.file('wide'), Buffer.concat([png.subarray(0, 16), Buffer.from('0000ffff00000001', 'hex')]));
  writeFileSync(files.dir.file('broken'), png.subarray(0, 10));
  for (const path of ['large', 'wide', 'broken'])
    expect(await files.read({ path })).toMatchObject({ isError: true, content: [{ type: 'text' }] });
});

test('huge files are read in parts, quickly and with little memory', async () => {
  using files = createFileTools();
  const log = openSync(files.dir.file('log'), 'w');
  const chunk = Buffer.from('0123456789 abcdefghij\n'.repeat(50_000));
  for (let i = 0; i < 100; i++) writeSync(log, chunk);
  closeSync(log);
  const sparse = openSync(files.dir.file('sparse'), 'w');
  writeSync(sparse, 'begin\n'.repeat(5_000));
  ftruncateSync(sparse, 10 * 1024 ** 3);
  closeSync(sparse);
  const before = process.memoryUsage.rss();
  expect((await files.read({ path: 'log', limit: 1 })).text).toContain('[Lines 1-1. Go on with offset: 2.]');
  expect((await files.read({ path: 'log', offset: 1_500_000, limit: 1 })).text).toContain('1500000\t0123456789');
  expect((await files.read({ path: 'sparse', limit: 2 })).text).toContain('[Lines 1-2. Go on with offset: 3.]');
  const late = await files.read({ path: 'sparse', offset: 6_000 });
  expect(late).toMatchObject({ isError: true, text: expect.stringMatching(/too large|there is no line/) });
  expect(process.memoryUsage.rss() - before).toBeLessThan(64 * 1024 * 1024);
});

test('a search for a far line ends when it is told to', async () => {
  using files = createFileTools();
  const sparse = openSync(files.dir.file('sparse'), 'w');
  writeSync(sparse, 'begin\n'.repeat(5_000));
  ftruncateSync(sparse, 10 * 1024 ** 3);
  closeSync(sparse);
  const stop = new AbortController();
  const said = files.read({ path: 'sparse', offset: 9_999 }, { signal: stop.signal });
  stop.abort();
  expect(await said).toMatchObject({ text: 'Stopped.', isError: true });
});

test('paths may be absolute, below the home, or go up and down', async ({ onTestFinished }) => {
  using files = createFileTools();
  const home = process.env.HOME;
  onTestFinished(() => void (process.env.HOME = home));
  process.env.HOME = files.dir.path;
  mkdirSync(files.dir.file('d'));
  writeFileSync(files.dir.file('a'), 'x');
  symlinkSync('a', files.dir.file('link'));
  for (const path of ['a', './a', 'd/../a', files.dir.file('a'), '~/a', 'link', `${files.dir.path}//./a`]) {
    expect(await files.read({ path }), path).toMatchObject({ text: '1\tx' });
  }
});

test('it says what it will touch, and only looks', async () => {
  using files = createFileTools();
  const { read } = files.tools;
  expect(await read.prepare?.({ path: 'd/../a' }, files.context)).toEqual({ accesses: [{ kind: 'read', path: files.dir.file('a') }] });
  expect([read.readOnly, read.resumable]).toEqual([true, true]);
  expect(read.title({ path: 'a\nb' })).toBe('Read a\\x0ab');
  for (const tool of Object.values(files.tools)) {
    expect(tool.description.length).toBeLessThanOrEqual(120);
    expect(tool.parameters.jsonSchema).toMatchObject({ type: 'object' });
  }
});
