import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { toAscii } from '../../../src/tui/rows/ascii.js';
import { textWidth } from '../../../src/tui/rows/cells.js';
import { marks, spinnerMarks } from '../../../src/tui/rows/marks.js';

/** Every character beyond ASCII in the source of what is drawn. */
function signsIn(folder: string): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  const source = files.map((name) => readFileSync(join(folder, name), 'utf8')).join('');
  return [...new Set(source.match(/[^\0-\x7f]/gu))];
}

test('each mark takes one column', () => {
  for (const mark of [...Object.values(marks), ...spinnerMarks]) expect([mark, textWidth(mark)]).toEqual([mark, 1]);
});

test.each(['src/tui', 'src/view'])('every sign in %s has one in ASCII', (folder) => {
  const signs = signsIn(join(import.meta.dirname, '../../..', folder));
  expect(signs).toContain(marks.ellipsis);
  expect(signs.filter((sign) => !/^[!->@-~]$/.test(toAscii(sign)))).toEqual([]);
});

test('states and the steps of the spinner differ in ASCII as well', () => {
  const { waiting, running, ok, failed, skipped, interrupted } = marks;
  expect([waiting, running, ok, failed, skipped, interrupted].map((mark) => toAscii(mark))).toEqual(['o', '*', '+', 'x', '/', '~']);
  expect(spinnerMarks.map((mark) => toAscii(mark)).join('')).toBe('|/-\\|/');
});
