import fc from 'fast-check';

const words = fc.constantFrom(
  ...[
    'a',
    'word',
    '*em*',
    '**strong**',
    '`code`',
    '~~gone~~',
    '[text](https://a.b/c_d)',
    'https://x.y/z',
    '<b>',
    '&lt;',
    '**',
    '_x',
    '`',
    '|',
    '日本語',
    '🚢',
  ],
);
const inline = fc.array(words, { minLength: 1, maxLength: 8 }).map((list) => list.join(' '));
const indent = fc.constantFrom('', '', '', '  ', '    ', '\t');
const line = fc.oneof(
  { weight: 4, arbitrary: inline },
  { weight: 2, arbitrary: fc.constant('') },
  inline.map((text) => `# ${text}`),
  inline.map((text) => `- ${text}`),
  inline.map((text) => `- [x] ${text}`),
  inline.map((text) => `3. ${text}`),
  inline.map((text) => `> ${text}`),
  inline.map((text) => `> - ${text}`),
  fc.constantFrom(
    '```',
    '```ts',
    '~~~~',
    '---',
    '===',
    '***',
    '<details>',
    '<!--',
    '-->',
    '[1]: https://ref',
    '- ```js',
    'const x = `1',
    '/* open',
  ),
  fc.tuple(words, words).map(([a, b]) => `| ${a} | ${b} |`),
  fc.constantFrom('|---|:-:|', '--- | ---', 'a | b'),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
);
const indented = fc.tuple(indent, line).map(([space, text]) => space + text);

/** Texts that are mostly Markdown, with all kinds of blocks beside and inside each other. */
export const markdownTexts = fc.array(indented, { maxLength: 30 }).map((lines) => lines.join('\n'));

/** A text in pieces of random lengths, which may tear apart anything. */
export function piecesOf(text: fc.Arbitrary<string>): fc.Arbitrary<string[]> {
  return fc.tuple(text, fc.array(fc.nat({ max: 12 }), { minLength: 1 })).map(([whole, lengths]) => {
    const pieces: string[] = [];
    for (let at = 0, turn = 0; at < whole.length; turn++) {
      const length = 1 + (lengths[turn % lengths.length] ?? 0);
      pieces.push(whole.slice(at, at + length));
      at += length;
    }
    return pieces;
  });
}
