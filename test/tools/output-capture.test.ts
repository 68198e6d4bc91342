import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { cleanText, truncateLongLines, unfinishedEscapeChars } from '../../src/tools/output/clean-text.js';
import { createOutputCapture } from '../../src/tools/output/output-capture.js';
import { incompleteUtf8Tail, incompleteUtf8Head, createTailBuffer } from '../../src/tools/output/tail-buffer.js';
import { createLiveOutput } from '../../src/tools/output/live-output.js';
import type { Artifacts } from '../../src/tools/port.js';
import { processorMs } from '../support/processor-time.js';
import { makeTempDir } from '../support/temp-dir.js';
import { artifactsIn } from '../support/tool-context.js';

const escape = '\x1b';

test.for([
  ['colours', `${escape}[1;31mred${escape}[0m text`, 'red text'],
  ['a title', `a${escape}]0;title\x07b`, 'ab'],
  ['a title that ends in another way', `a${escape}]2;title${escape}\\b`, 'ab'],
  ['a link', `${escape}]8;;http://evil${escape}\\click${escape}]8;;${escape}\\`, 'click'],
  ['the clipboard', `a${escape}]52;c;ZXZpbA==\x07b`, 'ab'],
  ['a title without end', `a${escape}]0;title\nb`, 'a\nb'],
  ['a device string', `a${escape}P1$r\n0m${escape}\\b`, 'ab'],
  ['an application string', `a${escape}_x${escape}\\${escape}^y${escape}\\${escape}Xz${escape}\\b`, 'ab'],
  ['clearing the screen', `a${escape}[2J${escape}[H${escape}cb`, 'ab'],
  ['private modes', `${escape}[?1049h${escape}[?25lx${escape}[?25h`, 'x'],
  ['character sets', `${escape}(Bx${escape})0y${escape}=z`, 'xyz'],
  ['eight-bit sequences', 'a\x9b31mb\x9d0;t\x9cc\x90q\x9cd', 'abcd'],
  ['half a sequence', `a${escape}[`, 'a'],
  ['an escape at the end', `a${escape}`, 'a'],
  ['control characters', 'a\0\x01\x07\x0b\x0c\x7f\x85b', 'ab'],
  ['bidirectional marks', 'a\u202eb\u2066c\u200ed', 'abcd'],
  ['what takes no room', 'a\u200bb\u2060c\ufeffd\u{e0041}e\u00adf', 'abcdef'],
  ['line ends of others', 'a\r\nb\r\n', 'a\nb\n'],
  ['a progress bar', '10%\r20%\r100%\nnext', '100%\nnext'],
  ['a progress bar that ends at the left', '10%\r100%\r\nnext', '100%\nnext'],
  ['one that clears its line', `10%\r${escape}[K20%\r${escape}[K`, '20%'],
  ['overstruck letters', 'b\bbo\bol\bld', 'bold'],
  ['tabs, accents and emoji', 'a\tb é 漢字 🙂 ❤️\n', 'a\tb é 漢字 🙂 ❤️\n'],
] as const)('%s: cleaned', ([, text, cleaned]) => {
  expect(cleanText(text)).toBe(cleaned);
});

test('cleaning is linear, whatever comes', () => {
  const from = processorMs();
  for (const piece of [
    `${escape}]`,
    `${escape}P`,
    `${escape}[`,
    '\r',
    'a\b',
    '\x9d',
    '\x90',
    '\x9dx',
    '\x90\n',
    '\x9b',
    `${escape}]0;${escape}P`,
  ])
    cleanText(piece.repeat(20_000));
  expect(processorMs() - from).toBeLessThan(5_000);
});

test('long lines are cut, and say so', () => {
  const { text, cut } = truncateLongLines(`short\n${'x'.repeat(1_999)}🙂yz\n`);
  expect(cut).toBe(1);
  expect(text).toBe(`short\n${'x'.repeat(1_999)}… [4 more characters in this line]\n`);
});

test('the end of a piece that may go on is known', () => {
  expect(
    ['a', 'a\r', `a${escape}`, `a${escape}[1;3`, `a${escape}]0;ti`, `a${escape}]0;t\x07`, `a${escape}[31m`].map(unfinishedEscapeChars),
  ).toEqual([0, 1, 1, 5, 6, 0, 0]);
});

test('the last bytes are the last bytes, however they come', () => {
  for (const size of [1, 3, 7, 10, 11, 64, 1_000]) {
    const last = createTailBuffer(10);
    let all = '';
    for (let i = 0; i < 200; i++) {
      const piece = String.fromCharCode(97 + (i % 26)).repeat(size);
      all += piece;
      last.push(Buffer.from(piece));
      expect(last.bytes().toString()).toBe(all.slice(-10));
    }
  }
});

test('characters that were cut are seen', () => {
  const whole = Buffer.from('aé漢🙂');
  const ends = Array.from({ length: whole.length + 1 }, (_, i) => incompleteUtf8Tail(whole.subarray(0, i)));
  expect(ends).toEqual([0, 0, 1, 0, 1, 2, 0, 1, 2, 3, 0]);
  const starts = Array.from({ length: whole.length }, (_, i) => incompleteUtf8Head(whole.subarray(i)));
  expect(starts).toEqual([0, 0, 1, 0, 2, 1, 0, 3, 2, 1]);
});

function keepIn(dir: string, wholeFile = false) {
  const artifacts = artifactsIn(dir);
  return { artifacts, kept: createOutputCapture({ artifacts, wholeFile }) };
}

test('what is short stays in memory, and no file is made', async () => {
  using dir = makeTempDir();
  const { kept } = keepIn(dir.file('artifacts'));
  await kept.write(Buffer.from('one\n'));
  for (const byte of Buffer.from('漢🙂\n')) await kept.write(Buffer.from([byte]));
  expect(kept.take(true)).toBe('one\n漢🙂\n');
  await kept.end();
  expect([kept.artifactId(), kept.counts, existsSync(dir.file('artifacts'))]).toEqual([
    undefined,
    { bytes: 12, lines: 2, dropped_bytes: 0 },
    false,
  ]);
});

test('of what is long the model gets the beginning and the end, and the artifact has every byte', async () => {
  using dir = makeTempDir();
  const { kept, artifacts } = keepIn(dir.file('artifacts'));
  const whole = Buffer.from(Array.from({ length: 20_000 }, (_, i) => `line ${i} é\n`).join(''));
  for (let at = 0; at < whole.length; at += 1_001) await kept.write(whole.subarray(at, at + 1_001));
  const text = kept.take(true);
  await kept.end();
  const id = kept.artifactId()!;
  expect(text).toMatch(/^line 0 é\nline 1 é\n/);
  expect(text).toMatch(/line 19999 é\n$/);
  expect(text).not.toContain('\ufffd');
  const left = Number(/\[… (\d+) bytes left out; all of it with tool_output, artifact art_1\]/.exec(text)?.[1]);
  expect(Buffer.byteLength(text) + left).toBeGreaterThanOrEqual(whole.length);
  expect(text.length).toBeLessThan(33_000);
  expect(artifacts.read(id, 0, whole.length + 1)?.data.equals(whole)).toBe(true);
});

test('exactly as much as fits is not cut, and a byte more is', async () => {
  using dir = makeTempDir();
  for (const [extra, cut] of [
    [0, false],
    [1, true],
  ] as const) {
    const { kept } = keepIn(dir.file(`artifacts-${extra}`));
    await kept.write(Buffer.from('x\n'.repeat(16 * 1024) + 'y'.repeat(extra)));
    expect(kept.take(true).includes('left out')).toBe(cut);
    await kept.end();
    expect(kept.artifactId() !== undefined).toBe(cut);
  }
});

test('a long line in a short output is cut, and can be read whole', async () => {
  using dir = makeTempDir();
  const { kept, artifacts } = keepIn(dir.file('artifacts'));
  await kept.write(Buffer.from(`${'x'.repeat(5_000)}\nend\n`));
  expect(kept.take(true)).toBe(
    `${'x'.repeat(2_000)}… [3000 more characters in this line]\nend\n[long lines were cut; all of it with tool_output, artifact art_1]`,
  );
  await kept.end();
  expect(artifacts.read(kept.artifactId()!, 0, 10_000)?.totalBytes).toBe(5_005);
});

test('what is no text is named as such, and kept as it is', async () => {
  using dir = makeTempDir();
  const { kept, artifacts } = keepIn(dir.file('artifacts'));
  const bytes = Buffer.from(Array.from({ length: 1_000 }, (_, i) => (i * 7919) % 256));
  await kept.write(bytes);
  expect(kept.take(true)).toBe('[binary output, 1000 bytes; all of it with tool_output, artifact art_1]');
  await kept.end();
  expect(artifacts.read('art_1', 0, 2_000)?.data.equals(bytes)).toBe(true);
});

test('what is read in several pieces comes once, with characters whole', async () => {
  using dir = makeTempDir();
  const { kept } = keepIn(dir.file('artifacts'), true);
  const bytes = Buffer.from('one 漢 two');
  await kept.write(bytes.subarray(0, 5));
  expect(kept.take(false)).toBe('one ');
  await kept.write(bytes.subarray(5));
  expect(kept.take(false)).toBe('漢 two');
  expect(kept.take(true)).toBe('');
  await kept.end();
  expect(readdirSync(dir.file('artifacts'))).toEqual([]);
});

test('a disk that is full costs what is left out, and nothing else', async () => {
  using dir = makeTempDir();
  const full: Artifacts = { ...artifactsIn(dir.path), begin: () => ({ id: 'art_x', path: '/dev/full/not/a/folder' }) };
  const kept = createOutputCapture({ artifacts: full });
  await kept.write(Buffer.alloc(100_000, 'x\n'));
  expect(kept.take(true)).toMatch(/\[… \d+ bytes left out; the rest could not be saved: ENOTDIR\]/);
  await kept.end();
  expect(kept.artifactId()).toBeUndefined();
});

test('the artifact ends at its bound, and the rest is counted', async () => {
  using dir = makeTempDir();
  const { kept } = keepIn(dir.file('artifacts'));
  const piece = Buffer.alloc(64 * 1024, 'abcdefg\n');
  for (let i = 0; i < 1_025; i++) await kept.write(piece);
  const text = kept.take(true);
  await kept.end();
  expect(kept.counts).toEqual({ bytes: 1_025 * 65_536, lines: 1_025 * 8_192, dropped_bytes: 65_536 });
  expect(text).toContain('the first 67108864 bytes with tool_output, artifact art_1; 65536 bytes were not kept]');
  expect(readFileSync(dir.file('artifacts/art_1')).length).toBe(67_108_864);
});

test('live output is shown in order and cleaned, with sequences and characters that were split', async () => {
  const heard: string[] = [];
  const live = createLiveOutput((text) => heard.push(text));
  const bytes = Buffer.from(`one ${escape}[31mré🙂d${escape}[0m\r\n10%\r20%\n`);
  for (let i = 0; i < bytes.length; i++) {
    live.push(bytes.subarray(i, i + 1));
    if (i % 3 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  live.end();
  expect(heard.join('')).toBe('one ré🙂d\n10%\n20%\n');
});

test('live output that comes too fast is bounded, ends with the newest, and says what was skipped', () => {
  const heard: string[] = [];
  const live = createLiveOutput((text) => heard.push(text));
  for (let i = 0; i < 1_000; i++) live.push(Buffer.from(`${i} ${'é'.repeat(1_000)}\n`));
  live.end();
  expect(heard).toHaveLength(1);
  expect(heard[0]).toMatch(/^\n\[… \d+ bytes not shown\]\n.*é\n$/s);
  expect(heard[0]).not.toContain('\ufffd');
  expect(heard[0]!.length).toBeLessThan(66_000);
  expect(heard[0]).toContain('\n999 ');
});

test('live output that is no text is said to be that, once, and text that comes after it is shown', async () => {
  const heard: string[] = [];
  let wake: () => void = () => undefined;
  const live = createLiveOutput((text) => {
    heard.push(text);
    wake();
  });
  const push = async (bytes: Buffer): Promise<void> => {
    const shown = new Promise<void>((resolve) => (wake = resolve));
    live.push(bytes);
    await shown;
  };
  const noise = Buffer.from(Array.from({ length: 3_000 }, (_, n) => (n * 167) % 256));
  await push(Buffer.from('begin'));
  await push(noise);
  await push(Buffer.from('text\n'));
  live.push(noise);
  live.push(noise.subarray(0, 9));
  live.end();
  live.push(Buffer.from([0xff, 0xfe, 0]));
  live.end();
  expect(heard).toEqual(['begin', '\n[binary output is not shown]\n', 'text\n', '[binary output is not shown]\n']);
});
