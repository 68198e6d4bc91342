import fc from 'fast-check';
import { expect, test } from 'vitest';
import { rowText, rowWidth, span } from '../../../src/tui/rows/row.js';
import { wrapSpans } from '../../../src/tui/rows/wrap.js';
import { copiedText } from './copied-text.js';

test('lines break at spaces, and know what the break took out', () => {
  expect(wrapSpans([span('one two  three')], 8)).toEqual([
    { spans: [{ text: 'one two' }], gutter: 0 },
    { spans: [{ text: 'three' }], gutter: 0, continues: '  ' },
  ]);
});

test('a word that is longer than the row is broken', () => {
  expect(wrapSpans([span('abcdefgh')], 3).map(rowText)).toEqual(['abc', 'def', 'gh']);
});

test('code breaks anywhere, so that its spaces stay', () => {
  const rows = wrapSpans([span('a  b   c')], 3, { anywhere: true });
  expect(rows.map(rowText)).toEqual(['a', 'b', ' c']);
  expect(copiedText(rows)).toBe('a  b   c');
});

test('styles go on over a break', () => {
  expect(wrapSpans([span('a '), span('bold text', { bold: true })], 6)).toEqual([
    { spans: [{ text: 'a ' }, { text: 'bold', bold: true }], gutter: 0 },
    { spans: [{ text: 'text', bold: true }], gutter: 0, continues: ' ' },
  ]);
});

test('what stands in front of a row is decoration, unless it is said to be text', () => {
  const options = { first: [span('> - ')], rest: [span('>   ')], firstGutter: 2 };
  const rows = wrapSpans([span('one two')], 8, options);
  expect(rows.map(rowText)).toEqual(['> - one', '>   two']);
  expect(rows.map(({ gutter }) => gutter)).toEqual([2, 4]);
  expect(copiedText(rows)).toBe('- one two');
});

test('tabs are kept for who copies them', () => {
  const rows = wrapSpans([span('\tif x:')], 20, { anywhere: true });
  expect(rowWidth(rows[0]!)).toBe(9);
  expect(copiedText(rows)).toBe('\tif x:');
});

test('decoration leaves a column for the text, however narrow the screen is', () => {
  const rows = wrapSpans([span('ab')], 2, { first: [span('│ ')] });
  expect(rows.map(rowText)).toEqual(['│a', '│b']);
});

test('a line of more than 10,000 units is cut', () => {
  const rows = wrapSpans([span('x'.repeat(20_000))], 100);
  expect(rows).toHaveLength(101);
  expect(rowText(rows.at(-1)!)).toBe('…');
});

test('what is copied from wrapped rows is what was said', () => {
  const texts = fc.array(fc.constantFrom('word', 'a', '日本語', ' ', '  ', '\n', 'long-word-without-spaces', '👩‍🚀', 'é'), { maxLength: 40 });
  fc.assert(
    fc.property(texts, fc.integer({ min: 6, max: 30 }), fc.boolean(), (parts, columns, anywhere) => {
      const text = parts.join('');
      const rows = wrapSpans([span(text)], columns, { first: [span('│ ')], anywhere });
      // White space at the end of a line is nothing that anybody sees.
      const lines = (whole: string) => whole.split('\n').map((line) => line.trimEnd());
      expect(lines(copiedText(rows))).toEqual(lines(text));
    }),
  );
});
