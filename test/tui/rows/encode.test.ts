import { expect, test } from 'vitest';
import { encodeRow } from '../../../src/tui/rows/encode.js';
import { chooseLook } from '../../../src/tui/rows/look.js';
import { row, span, spreadRow } from '../../../src/tui/rows/row.js';

const look = chooseLook({ env: {}, background: 'dark' });
const asciiLook = chooseLook({ env: { LANG: 'C' }, background: 'dark' });

test('a row is clipped, and its colours end with it', () => {
  expect(encodeRow(row({ text: 'ab', tone: 'bad' }, 'c'), 5, look)).toBe('\u001b[31mab\u001b[mc');
  expect(encodeRow(row(span('日本', { tone: 'bad', bold: true })), 3, look)).toBe('\u001b[31;1m日\u001b[m');
  expect(encodeRow(row(span('T', { tone: 'heading', bold: true }), span('x', 'link')), 2, look)).toBe(
    '\u001b[1;94mT\u001b[0;4;94mx\u001b[m',
  );
});

test('spaces at the end are written only where they are seen', () => {
  expect(encodeRow(row('  a b  ', span(' ', 'muted'), ' '), 20, look)).toBe('  a b');
  expect(encodeRow(row(span('a ', 'bad'), '  '), 20, look)).toBe('\u001b[31ma\u001b[m');
  expect(encodeRow(row('   '), 20, look)).toBe('');
  expect(encodeRow(spreadRow([span('a')], [span('b'), span(' ')], 8), 8, look)).toBe('a     b');
  expect(encodeRow(row('a', span('  ', { reverse: true }), ' '), 20, look)).toBe('a\u001b[7m  \u001b[m');
  expect(encodeRow(row(span('a ', 'link')), 20, look)).toBe('\u001b[4;94ma \u001b[m');
  expect(encodeRow(row('a ', span('', { reverse: true })), 20, look)).toBe('a');
});

test('a terminal without UTF-8 gets ASCII of the same width', () => {
  const drawn = row(span('✓ ', 'good'), 'read 日本', ' …');
  expect(encodeRow(drawn, 20, asciiLook)).toBe('\u001b[32m+ \u001b[mread ???? ~');
  expect(encodeRow(drawn, 8, asciiLook)).toBe('\u001b[32m+ \u001b[mread ?');
  expect(encodeRow(row('│ ', span('“│”', { exact: true })), 20, asciiLook)).toBe('| ???');
});
