import { expect, test } from 'vitest';
import { mentionsIn, writePath } from '../../../src/tui/editor/mentions.js';

function pathsIn(text: string): string[] {
  return mentionsIn(text).map(({ path }) => path);
}

test('mentions have their paths, lines and places', () => {
  const text = 'see @src/a.ts#L10-L20 and @"my file.md"#L3, @b';
  expect(mentionsIn(text)).toEqual([
    { path: 'src/a.ts', lines: { first: 10, last: 20 }, start: 4, end: 21 },
    { path: 'my file.md', lines: { first: 3, last: 3 }, start: 26, end: 42 },
    { path: 'b', start: 44, end: 46 },
  ]);
  expect(mentionsIn(text).map(({ start, end }) => text.slice(start, end))).toEqual(['@src/a.ts#L10-L20', '@"my file.md"#L3', '@b']);
});

test('the punctuation around a mention is not of its path', () => {
  expect(pathsIn('(@a.ts), `@b.ts`; "@c.ts". @d.ts? [@e/[id].ts] {@f}')).toEqual(['a.ts', 'b.ts', 'c.ts', 'd.ts', 'e/[id].ts', 'f']);
  expect(pathsIn('@app/(group)/page.tsx')).toEqual(['app/(group)/page.tsx']);
});

test('an @ inside of a word, or alone, mentions nothing', () => {
  expect(pathsIn('me@example.org @ @, a@b')).toEqual([]);
});

test('a path is written so that it is read again', () => {
  for (const path of ['a.ts', 'my file.ts', 'a"b\\c', 'x.', 'x#L10', 'a)', 'app/(g)/p.ts', 'ü/漢.md', 'a#b', '#', 'x#']) {
    expect(mentionsIn(`see @${writePath(path)} there`).map((mention) => [mention.path, mention.lines])).toEqual([[path, undefined]]);
  }
});

test('a long text without an end of a path is read in time', () => {
  expect(mentionsIn(`@"${'a'.repeat(1_000_000)}`.repeat(2))[0]?.path.length).toBeLessThan(10_000);
  expect(pathsIn(`@${')'.repeat(1_000_000)}`)).toEqual([]);
});
