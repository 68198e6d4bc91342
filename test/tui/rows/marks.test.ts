import { expect, test } from 'vitest';
import { textWidth } from '../../../src/tui/rows/cells.js';
import { asciiMarks, chooseMarks, unicodeMarks } from '../../../src/tui/rows/marks.js';

test('one set can stand for the other: each mark takes one column', () => {
  expect(Object.keys(asciiMarks)).toEqual(Object.keys(unicodeMarks));
  for (const mark of [...Object.values(unicodeMarks), ...Object.values(asciiMarks)]) expect([mark, textWidth(mark)]).toEqual([mark, 1]);
  for (const mark of Object.values(asciiMarks)) expect(mark).toMatch(/^[!-~]$/);
});

test.each([
  [{ LANG: 'en_US.UTF-8' }, unicodeMarks],
  [{ LANG: 'C.utf8' }, unicodeMarks],
  [{}, unicodeMarks],
  [{ LANG: 'C' }, asciiMarks],
  [{ LANG: 'en_US.UTF-8', LC_ALL: 'POSIX' }, asciiMarks],
  [{ LANG: 'C', LC_ALL: '', LC_CTYPE: 'de_DE.UTF-8' }, unicodeMarks],
  [{ LANG: 'en_US.UTF-8', TERM: 'linux' }, asciiMarks],
])('the locale says which: %j', (env, marks) => {
  expect(chooseMarks(env)).toBe(marks);
});
