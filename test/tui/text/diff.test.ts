import { expect, test } from 'vitest';
import { rowText, rowWidth, span } from '../../../src/tui/rows/row.js';
import { renderDiff } from '../../../src/tui/text/diff.js';
import { copiedText } from '../rows/copied-text.js';

const lines = (...all: string[]): string => all.join('\n');
const diff = lines(
  'diff --git a/src/a.ts b/src/a.ts',
  'index 1..2 100644',
  '--- a/src/a.ts',
  '+++ b/src/a.ts',
  '@@ -8,4 +8,5 @@ function f() {',
  ' before',
  '-const total = one + two;',
  '+const total = one + three;',
  '+added();',
  ' after',
  ' ',
  '\\ No newline at end of file',
  '',
);

test('lines have the numbers of both versions', () => {
  expect(renderDiff(diff, 60).map(rowText)).toEqual([
    'src/a.ts',
    'line 8: function f() {',
    ' 8  8  before',
    ' 9    -const total = one + two;',
    '    9 +const total = one + three;',
    '   10 +added();',
    '10 11  after',
    '11 12  ',
    'No newline at end of file',
  ]);
});

test('of a changed line the changed words stand out', () => {
  const [, , , old, now, added] = renderDiff(diff, 60);
  expect(old!.spans.slice(1)).toEqual([
    { text: '-', tone: 'removed' },
    { text: 'const total = one + ', tone: 'removed', exact: true },
    { text: 'two', tone: 'removed', exact: true, reverse: true },
    { text: ';', tone: 'removed', exact: true },
  ]);
  expect(now!.spans.filter(({ reverse }) => reverse)).toEqual([{ text: 'three', tone: 'added', exact: true, reverse: true }]);
  expect(added!.spans.slice(1)).toEqual([
    { text: '+', tone: 'added' },
    { text: 'added();', tone: 'added', exact: true },
  ]);
});

test('lines that have nothing in common are not compared', () => {
  const rows = renderDiff(lines('@@ -1 +1 @@', '-alpha beta gamma', '+completely(different)'), 60);
  expect(rows.flatMap(({ spans }) => spans).filter(({ reverse }) => reverse)).toEqual([]);
});

test('what is copied is the diff without the numbers', () => {
  const copied = copiedText(
    renderDiff(lines('@@ -1,2 +1,2 @@', '-a line that is longer than the screen is wide, and goes on', '+b', ' c'), 44),
  );
  expect(copied).toBe(lines('line 1', '-a line that is longer than the screen is wide, and goes on', '+b', ' c'));
});

test('a narrow screen has no numbers', () => {
  expect(renderDiff(lines('@@ -1,2 +1,2 @@', '-a', '+b', ' c'), 20).map(rowText)).toEqual(['line 1', '-a', '+b', ' c']);
});

test('a wide screen shows both versions side by side, and the new one is copied', () => {
  const rows = renderDiff(diff, 120);
  const [file, hunk, ...sides] = rows.map(rowText);
  expect([file, hunk]).toEqual(['src/a.ts', 'line 8: function f() {']);
  expect(sides.slice(0, -1).map((line) => line.split(' │ ').map((side) => side.trimEnd()))).toEqual([
    [' 8  before', ' 8  before'],
    [' 9 -const total = one + two;', ' 9 +const total = one + three;'],
    ['', '10 +added();'],
    ['10  after', '11  after'],
    ['11', '12'],
  ]);
  expect(copiedText(rows.slice(2, 6))).toBe(lines(' before', '+const total = one + three;', '+added();', ' after'));
});

test('long lines wrap on their side', () => {
  const rows = renderDiff(lines('@@ -1 +1 @@', `-${'a'.repeat(100)}`, `+${'b'.repeat(70)}`), 120);
  expect(rows).toHaveLength(3);
  for (const one of rows) expect(rowWidth(one)).toBeLessThanOrEqual(120);
  expect(copiedText(rows.slice(1))).toBe(`+${'b'.repeat(70)}`);
});

test('content that looks like the head of a file is content', () => {
  const rows = renderDiff(lines('--- a/x', '+++ b/x', '@@ -1,2 +1,1 @@', '--- old', '-', '+++ new'), 60);
  expect(rows.map(rowText)).toEqual(['x', 'line 1', '1   --- old', '2   -', '  1 +++ new']);
});

test('files that are new, gone or renamed are said to be', () => {
  const files = (old: string, now: string) => renderDiff(lines(`--- ${old}`, `+++ ${now}`), 60).map(rowText);
  expect(files('/dev/null', 'b/x')).toEqual(['x (new)']);
  expect(files('a/x', '/dev/null')).toEqual(['x (deleted)']);
  expect(files('a/x', 'b/y')).toEqual(['x → y']);
});

test('binary files are named, not shown', () => {
  expect(renderDiff('Binary files a/x and b/x differ', 60).map(rowText)).toEqual(['Binary files a/x and b/x differ']);
  expect(renderDiff(lines('diff --git a/x b/x', 'GIT binary patch', 'literal 4', 'LcmZQz', '', 'literal 0', ''), 60).map(rowText)).toEqual([
    'binary file',
  ]);
});

test('a huge diff is bounded, and says how much is missing', () => {
  const huge = lines('@@ -0,0 +1,9000 @@', ...Array.from({ length: 9_000 }, (_, at) => `+line ${at}`));
  const rows = renderDiff(huge, 60);
  expect(rows).toHaveLength(2_001);
  expect(rowText(rows.at(-1)!)).toBe('… 7001 more lines');
  expect(renderDiff(huge, 60, { linesMax: 3 }).map(rowText)).toEqual(['line 1', '  1 +line 0', '  2 +line 1', '… 8998 more lines']);
});

test('what stands in front of a diff is decoration, and a column is left for the diff', () => {
  const diff = lines('--- a/x', '+++ b/x', '@@ -1 +1 @@', '-a', '+b');
  const rows = renderDiff(diff, 60, { lead: [span('│ ')] });
  expect(rows.map(rowText)).toEqual(['│ x', '│ line 1', '│ 1   -a', '│   1 +b']);
  expect(rows.map(({ gutter }) => gutter)).toEqual([2, 2, 6, 6]);
  expect(copiedText(rows)).toBe('x\nline 1\n-a\n+b');
  expect(renderDiff(diff, 2, { lead: [span('│ ')] }).every((one) => rowWidth(one) === 2)).toBe(true);
});

test('what is no diff is shown as it is', () => {
  expect(renderDiff('not a\ndiff', 60).map(rowText)).toEqual(['not a', 'diff']);
});
