import { expect, test } from 'vitest';
import { alignColumns, clipColumns, columnsOf } from '../../src/cli/terminal/columns.js';
import { createLineWriter } from '../../src/cli/terminal/line-writer.js';

function openPage() {
  let written = '';
  return { page: createLineWriter((text) => (written += text)), written: () => written };
}

test('no line begins in the middle of another', () => {
  const { page, written } = openPage();
  page.flow('a', 'hel');
  page.flow('a', 'lo');
  page.line('[note]');
  page.flow('b', 'one\ntwo', { indent: '  ' });
  page.flow('b', ' more\n\nthree', { indent: '  ' });
  page.flow('c', 'next');
  page.endLine();
  expect(written()).toBe('hello\n[note]\n  one\n  two more\n\n  three\nnext\n');
});

test('there is never more than one blank line of our own', () => {
  const { page, written } = openPage();
  page.gap();
  page.line('first');
  page.gap();
  page.gap();
  page.flow('a', 'text\n\n');
  page.gap();
  page.line('last');
  expect(written()).toBe('first\n\ntext\n\nlast\n');
});

test('columns count what a terminal shows', () => {
  expect(columnsOf('abc')).toBe(3);
  expect(columnsOf('日本')).toBe(4);
  expect(columnsOf('e\u0301')).toBe(1);
  expect(clipColumns('日本語', 4)).toBe('日…');
  expect(clipColumns('abc', 3)).toBe('abc');
  expect(
    alignColumns([
      ['日本', 'x'],
      ['a', 'y'],
    ]),
  ).toEqual(['日本  x', 'a     y']);
});
