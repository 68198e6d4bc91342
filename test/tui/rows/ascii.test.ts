import fc from 'fast-check';
import { expect, test } from 'vitest';
import { printable } from '../../../src/view/printable.js';
import { toAscii } from '../../../src/tui/rows/ascii.js';
import { drawnText, textWidth } from '../../../src/tui/rows/cells.js';
import { hostileTexts } from './hostile-texts.js';

test.each([
  ['plain ~ text', 'plain ~ text'],
  ['✓ edit x  +2 −1', '+ edit x  +2 -1'],
  ['── a ┼ “b” … → ↑↓', '-- a + "b" ~ > ^v'],
  ['grüße', 'gr??e'],
  ['日本 🚢 🇩🇪🇫🇷', '???? ?? ????'],
  ['cafe\u0301', 'cafe'],
  ['␛[31m', '?[31m'],
])('%j becomes %j', (text, ascii) => {
  expect(toAscii(text)).toBe(ascii);
});

test('in an exact text nothing becomes what it is not', () => {
  expect(toAscii('echo “; rm x; “ │ e\u0301 …', { exact: true })).toBe('echo ?; rm x; ? ? ? ?');
});

test('it takes as many columns as before', () => {
  fc.assert(
    fc.property(hostileTexts, fc.boolean(), (text, exact) => {
      const drawn = drawnText(printable(text));
      const ascii = toAscii(drawn, { exact });
      expect(ascii).toMatch(/^[ -~]*$/);
      expect(ascii).toHaveLength(textWidth(drawn));
    }),
    { numRuns: 500 },
  );
});
