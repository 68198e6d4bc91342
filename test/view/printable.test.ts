import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createPrintableStream, printable, printableJson, printableLine } from '../../src/view/printable.js';

const dangerous = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/u; // eslint-disable-line no-control-regex
const nasty = fc.string({
  unit: fc.oneof(
    fc.constantFrom(
      '\u001b',
      '[',
      '2J',
      ']52;c;',
      '\u0007',
      '\u009b',
      '\u0090',
      '\r',
      '\n',
      '\t',
      '\u202e',
      '\u2066',
      '\u200b',
      '\u200d',
      '\ufeff',
    ),
    fc.string({ unit: 'binary', maxLength: 3 }),
  ),
});

test('what a terminal would act on is shown or dropped, never handed on', () => {
  expect(printable('\u001b[31mred\u001b[0m')).toBe('␛[31mred␛[0m');
  expect(printable('\u001b]0;title\u0007')).toBe('␛]0;title␇');
  expect(printable('bell\u0007 back\b del\u007f')).toBe('bell␇ back␈ del␡');
  expect(printable('\u009b2J')).toBe('<U+009B>2J');
  expect(printable('user\u202eexe.txt')).toBe('user<U+202E>exe.txt');
  expect(printable('a\u2066b\u2069c')).toBe('a<U+2066>b<U+2069>c');
  expect(printable('zero\u200bwidth\ufeff')).toBe('zero<U+200B>width<U+FEFF>');
  expect(printable('tag\u{e0041}')).toBe('tag<U+E0041>');
  fc.assert(fc.property(nasty, (text) => !dangerous.test(printable(text))));
});

test('honest text is left as it is', () => {
  for (const text of ['plain', 'two\nlines\tand a tab', 'grüße, 日本語, مرحبا', '❤️ 🚢', '']) expect(printable(text)).toBe(text);
  expect(printable('👩\u200d🚀 soft\u00adhyphen a\u200db')).toBe('👩\u200d🚀 softhyphen ab');
  expect(printable('windows\r\nlines\r\n')).toBe('windows\nlines\n');
  expect(printable('10%\r20%')).toBe('10%␍20%');
});

test('a line is one line', () => {
  expect(printableLine('  a\n\n b\tc \u001b[2J')).toBe('a b c ␛[2J');
});

test('text in pieces comes out as in one', () => {
  fc.assert(
    fc.property(fc.array(nasty), (pieces) => {
      const stream = createPrintableStream();
      const shown = pieces.map((piece) => stream.push(piece)).join('') + stream.end();
      expect(shown).toBe(printable(pieces.join('')));
    }),
  );
});

test('a sequence that is split over two pieces is as harmless as a whole one', () => {
  const stream = createPrintableStream();
  expect(stream.push('\u001b')).toBe('␛');
  expect(stream.push('[2J')).toBe('[2J');
  expect(stream.push('line\r')).toBe('line');
  expect(stream.push('\nnext\r')).toBe('\nnext');
  expect(stream.end()).toBe('␍');
});

test('JSON means exactly the value and is harmless all the same', () => {
  fc.assert(
    fc.property(nasty, (text) => {
      const json = printableJson({ [text]: text });
      expect(dangerous.test(json)).toBe(false);
      expect(JSON.parse(json)).toEqual({ [text]: text });
    }),
  );
});
