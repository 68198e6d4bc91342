import { expect, test } from 'vitest';
import { drawnText, textHead, textWidth } from '../../../src/tui/rows/cells.js';

test.each([
  ['plain', 5],
  ['grüße', 5],
  ['日本語', 6],
  ['e\u0301', 1],
  ['ﾊﾞ', 2],
  ['각', 2],
  ['\u1100\u1161\u11a8', 2],
  ['कि', 2],
  ['🚢', 2],
  ['🇩🇪', 2],
  ['🇩🇪🇫🇷', 4],
  ['\t', 4],
  ['', 0],
])('%j takes %d columns', (text, columns) => {
  expect(textWidth(text)).toBe(columns);
});

test('emoji take the columns that every terminal gives them, and are drawn so', () => {
  expect([drawnText('❤️'), textWidth('❤️')]).toEqual(['❤', 1]);
  expect([drawnText('👩‍🚀'), textWidth('👩‍🚀')]).toEqual(['👩🚀', 4]);
  expect([drawnText('👍🏽'), textWidth('👍🏽')]).toEqual(['👍', 2]);
  expect([drawnText('1️⃣'), textWidth('1️⃣')]).toEqual(['1\u20e3', 1]);
});

test('joiners stay where a script needs them', () => {
  expect(drawnText('می\u200cخواهم')).toBe('می\u200cخواهم');
});

test('a letter carries few marks, and a mark without a letter has a place', () => {
  expect(drawnText(`z${'\u0335'.repeat(300)}`)).toBe(`z${'\u0335'.repeat(8)}`);
  expect([drawnText('\u0301x'), textWidth('\u0301x')]).toEqual(['\u25cc\u0301x', 2]);
});

test('a beginning never cuts a character in two', () => {
  expect(textHead('日本語', 5)).toBe('日本');
  expect(textHead('ae\u0301i', 2)).toBe('ae\u0301');
  expect(textHead('👩‍🚀x', 3)).toBe('');
  expect(textHead('plain', 0)).toBe('');
});
