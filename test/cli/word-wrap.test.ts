import fc from 'fast-check';
import { expect, test } from 'vitest';
import { columnsOf } from '../../src/cli/terminal/columns.js';
import { createLineWriter } from '../../src/cli/terminal/line-writer.js';
import { createStyle } from '../../src/cli/terminal/style.js';
import { wrapLine, wrapText } from '../../src/cli/terminal/word-wrap.js';

function written(width: number, say: (page: ReturnType<typeof createLineWriter>) => void): string {
  let text = '';
  const page = createLineWriter(
    (piece) => (text += piece),
    () => width,
  );
  say(page);
  page.endLine();
  return text;
}

test('lines break between words, however the text comes in pieces', () => {
  const text = 'one two three four five six seven eight nine ten eleven twelve';
  const whole = written(20, (page) => page.flow('m', text));
  expect(whole).toBe('one two three four\nfive six seven eight\nnine ten eleven\ntwelve\n');
  expect(written(20, (page) => Array.from(text).forEach((character) => page.flow('m', character)))).toBe(whole);
  expect(written(Infinity, (page) => page.flow('m', text))).toBe(`${text}\n`);
});

test('words that no line holds are broken, and wide characters count twice', () => {
  expect(written(20, (page) => page.flow('m', `a ${'x'.repeat(45)} b`))).toBe(
    `a ${'x'.repeat(18)}\n${'x'.repeat(20)}\n${'x'.repeat(7)} b\n`,
  );
  expect(written(20, (page) => page.flow('m', '港に船が停まっている。天気は晴れ'))).toBe('港に船が停まっている\n。天気は晴れ\n');
  expect(written(20, (page) => page.flow('m', '🚢 sails 🚢🚢🚢🚢🚢🚢 on'))).toBe('🚢 sails\n🚢🚢🚢🚢🚢🚢 on\n');
  expect(columnsOf('🇩🇪')).toBe(2);
});

test('what is indented stays indented, and colours take no room', () => {
  expect(written(24, (page) => page.flow('m', 'one two three four five six\n    deep', { indent: '  ' }))).toBe(
    '  one two three four\n  five six\n      deep\n',
  );
  const { dim } = createStyle(true);
  expect(written(24, (page) => page.line(dim('  one two three four five six')))).toBe(dim('  one two three four\n  five six') + '\n');
  expect(wrapLine('  /mode MODE  what needs your yes and what does not', 42)).toBe(
    '  /mode MODE  what needs your yes and what\n              does not',
  );
  expect(wrapText('one two\nthree four five six seven\n  kept apart', 20)).toBe('one two three four\nfive six seven\n  kept apart');
});

test('nothing is lost and no line is too long', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'é', '船', '🚢', '-', '.'), minLength: 1, maxLength: 60 });
  const text = fc.array(fc.tuple(word, fc.constantFrom(' ', '\n', '  ', '\t')), { maxLength: 40 });
  fc.assert(
    fc.property(text, fc.integer({ min: 20, max: 90 }), (pairs, width) => {
      const said = pairs.map(([one, blank]) => one + blank).join('');
      const shown = written(width, (page) => page.flow('m', said));
      expect(shown.replaceAll(/\s/g, '')).toBe(said.replaceAll(/\s/g, ''));
      for (const line of shown.split('\n')) if (!line.includes('\t')) expect(columnsOf(line)).toBeLessThanOrEqual(width);
    }),
  );
});
