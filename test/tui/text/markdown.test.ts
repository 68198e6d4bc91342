import fc from 'fast-check';
import { Lexer } from 'marked';
import { expect, test } from 'vitest';
import { rowText, type Row } from '../../../src/tui/rows/row.js';
import { createBlockSplitter } from '../../../src/tui/text/markdown-blocks.js';
import { renderMarkdown } from '../../../src/tui/text/markdown.js';
import { copiedText } from '../rows/copied-text.js';
import { markdownTexts } from './markdown-texts.js';

const lines = (...all: string[]): string => all.join('\n');
const textsOf = (text: string, columns = 60): string[] => renderMarkdown(text, columns).map(rowText);
const onlyRow = (text: string): Row => {
  const [first, ...others] = renderMarkdown(text, 80);
  expect(others).toEqual([]);
  return first!;
};

test('emphasis, code and strikes are styles of the text', () => {
  expect(onlyRow('a **b** _c_ ~~d~~ `e*f*` ***g***').spans).toEqual([
    { text: 'a ' },
    { text: 'b', bold: true },
    { text: ' ' },
    { text: 'c', italic: true },
    { text: ' ' },
    { text: 'd', strike: true },
    { text: ' ' },
    { text: 'e*f*', tone: 'code' },
    { text: ' ' },
    { text: 'g', bold: true, italic: true },
  ]);
});

test.each([
  ['snake_case_name and 2 * 3 * 4', 'snake_case_name and 2 * 3 * 4'],
  ['**open and `open', '**open and `open'],
  [String.raw`\*not\* \_this\_`, '*not* _this_'],
  ['``a`b``', 'a`b'],
  ['a &lt; b &amp;&amp; c', 'a < b && c'],
  ['~5 and ~6', '~5 and ~6'],
  ['<b>bold</b> <script>', '<b>bold</b> <script>'],
  ['**「強調」**です', '「強調」です'],
  ['[open](http://x', '[open](http://x'],
])('%j reads %j', (text, shown) => {
  expect(textsOf(text)).toEqual([shown]);
});

test('a link shows its address, unless that is its text', () => {
  const link = (text: string) => ({ text, tone: 'link' });
  expect(onlyRow('[text](https://a.b/c_d_e "title")').spans).toEqual([link('text (https://a.b/c_d_e)')]);
  expect(onlyRow('[https://a.b](https://a.b)').spans).toEqual([link('https://a.b')]);
  expect(onlyRow('<https://a.b>').spans).toEqual([link('https://a.b')]);
  expect(onlyRow('(see https://a.b/c_(d).)').spans).toEqual([{ text: '(see ' }, link('https://a.b/c_(d)'), { text: '.)' }]);
  expect(onlyRow('http://[::1]:80/x').spans).toEqual([link('http://[::1]:80/x')]);
  expect(onlyRow('![a plan](plan.png)').spans).toEqual([{ text: 'image: ' }, link('a plan (plan.png)')]);
  expect(onlyRow('[a **b**](c)').spans).toEqual([link('a '), { ...link('b'), bold: true }, link(' (c)')]);
});

test('an address that says one thing and leads elsewhere is seen to do so', () => {
  expect(textsOf('[https://bank.example](https://evil.example)')).toEqual(['https://bank.example (https://evil.example)']);
});

test('references are not resolved: both halves stay', () => {
  expect(textsOf('see [that][1]\n\n[1]: https://a.b')).toEqual(['see [that][1]', '', '[1]: https://a.b']);
});

test('headings by their level', () => {
  expect(onlyRow('# One').spans).toEqual([{ text: 'One', tone: 'heading', bold: true, underline: true }]);
  expect(onlyRow('## Two').spans).toEqual([{ text: 'Two', tone: 'heading', bold: true }]);
  expect(onlyRow('### Three').spans).toEqual([{ text: 'Three', tone: 'heading', bold: true, italic: true }]);
  expect(onlyRow('Under\n=====').spans).toEqual([{ text: 'Under', tone: 'heading', bold: true, underline: true }]);
});

test('blank lines are as they were written, but never two', () => {
  expect(textsOf('\n\n# A\nb\n\n\n\nc\n- d\n\n')).toEqual(['A', 'b', '', 'c', '- d']);
});

test('lists keep their nesting, numbers, tasks and blank lines', () => {
  const text = lines('- a', '  - b', '    1. c', '    2. d', '- [x] e', '- [ ] f', '', '7. g', '', '8. h');
  expect(textsOf(text)).toEqual(['- a', '  - b', '    1. c', '    2. d', '- [x] e', '- [ ] f', '', '7. g', '', '8. h']);
});

test('a wrapped item hangs, and is copied as it was written', () => {
  const text = lines('- one two three four', '  - five six seven eight');
  const rows = renderMarkdown(text, 14);
  expect(rows.map(rowText)).toEqual(['- one two', '  three four', '  - five six', '    seven', '    eight']);
  expect(copiedText(rows)).toBe(text);
});

test('quotes have bars, up to four', () => {
  expect(textsOf('> a\n> > b')).toEqual(['▌ a', '▌ ▌ b']);
  expect(textsOf(`${'>'.repeat(9)} deep`)).toEqual(['▌ ▌ ▌ ▌ deep']);
  expect(copiedText(renderMarkdown('> one two three\n>\n> four', 10))).toBe('one two three\n\nfour');
});

test('what is nested beyond measure is shown as it is', () => {
  for (const text of ['> '.repeat(2_000), '- '.repeat(1_000), '1. '.repeat(500), '> - '.repeat(600)]) {
    expect(textsOf(`${text}x`).join('').replaceAll(' ', '')).toBe(`${text}x`.replaceAll(' ', ''));
  }
});

test('code has a bar and colours, and is copied without the bar', () => {
  const code = lines('if (x) {', '\treturn "a string that is longer than the row"; // why', '}');
  const rows = renderMarkdown(`\`\`\`ts\n${code}\n\`\`\``, 30);
  expect(rows.every((one) => rowText(one).startsWith('│ '))).toBe(true);
  expect(rows[0]!.spans).toEqual([
    { text: '│ ', tone: 'border' },
    { text: 'if', tone: 'keyword' },
    { text: ' (' },
    { text: 'x' },
    { text: ') {' },
  ]);
  expect(copiedText(rows)).toBe(code);
});

test('colours of code go on where a long block was split', () => {
  const code = ['/* begin', ...Array.from({ length: 400 }, (_, at) => `line ${at}`), 'end */ const x'];
  const rows = renderMarkdown(`\`\`\`js\n${code.join('\n')}\n\`\`\``, 40);
  expect(rows).toHaveLength(code.length);
  expect(rows.slice(0, -1).every(({ spans }) => spans[1]!.tone === 'comment')).toBe(true);
  expect(rows.at(-1)!.spans[2]).toEqual({ text: ' ' });
  expect(rows.at(-1)!.spans[3]).toEqual({ text: 'const', tone: 'keyword' });
});

test('a rule is as wide as the screen and not copied', () => {
  expect(renderMarkdown('---', 5)).toEqual([{ spans: [{ text: '─────', tone: 'border' }], gutter: 5 }]);
});

const table = lines('| Name | Count | What it is |', '|:-----|------:|:----------:|', '| a | 1 | x |', '| long name | 1000 | `y` and z |');

test('a table that fits has its columns aligned', () => {
  expect(textsOf(table)).toEqual([
    'Name      │ Count │ What it is',
    '──────────┼───────┼───────────',
    'a         │     1 │     x',
    'long name │  1000 │  y and z',
  ]);
});

test('a table that is too wide shares out the width and wraps its cells', () => {
  const wide = lines('| a | text |', '|---|---|', '| 1 | one two three four five six |', '| 2 | seven<br>eight |');
  expect(textsOf(wide, 20)).toEqual([
    'a │ text',
    '──┼─────────────────',
    '1 │ one two three',
    '  │ four five six',
    '2 │ seven',
    '  │ eight',
  ]);
});

test('a table that cannot fit becomes names and values', () => {
  expect(textsOf(table, 16)).toEqual([
    'Name: a',
    'Count: 1',
    'What it is: x',
    '────────────────',
    'Name: long name',
    'Count: 1000',
    'What it is: y',
    '  and z',
  ]);
});

test('the head of a long table is shown again, and copied once', () => {
  const rows = Array.from({ length: 400 }, (_, at) => `| row ${at} | text |`);
  const shown = renderMarkdown(lines('| a | b |', '|---|---|', ...rows), 40);
  expect(shown.filter((one) => /^a +│ b$/.test(rowText(one))).length).toBeGreaterThan(1);
  const copied = copiedText(shown).split('\n');
  expect(copied.filter((line) => /^a +│ b$/.test(line))).toHaveLength(1);
  expect(copied.filter((line) => line.startsWith('row '))).toHaveLength(400);
});

test('HTML is text', () => {
  expect(textsOf('<details>\n<summary>x</summary>\n\n**y**\n</details>')).toEqual([
    '<details>',
    '<summary>x</summary>',
    '',
    'y',
    '</details>',
  ]);
  expect(textsOf('<!-- a\n\n# b -->')).toEqual(['<!-- a', '', '# b -->']);
});

test('a line without end is shown to its end', () => {
  const words = Array.from({ length: 4_000 }, (_, at) => `word${at}`).join(' ');
  expect(copiedText(renderMarkdown(words, 70))).toBe(words);
  const one = 'x'.repeat(30_000);
  expect(copiedText(renderMarkdown(one, 70))).toBe(one);
});

test('a line of code without end is cut', () => {
  const copied = copiedText(renderMarkdown(`\`\`\`\n${'x'.repeat(30_000)}\nnext`, 70));
  expect(copied).toBe(`${'x'.repeat(10_000)}…\nnext`);
});

test('long lists are split where nobody sees it', () => {
  const items = Array.from({ length: 500 }, (_, at) => `${at + 1}. item ${at}\n${' '.repeat(String(at + 1).length + 2)}- inner`);
  expect(copiedText(renderMarkdown(items.join('\n'), 70))).toBe(items.join('\n'));
  const nested = lines('- outer', ...Array.from({ length: 1_000 }, (_, at) => `  - item ${at}`), '- last');
  expect(copiedText(renderMarkdown(nested, 70))).toBe(nested);
});

test('code in an item stays code, however long it is', () => {
  const text = lines('- item', '  ```js', ...Array.from({ length: 1_000 }, (_, at) => `  call(${at});`), '  ```', '- next');
  const rows = renderMarkdown(text, 40);
  expect(rows.map(rowText)).toEqual(['- item', ...Array.from({ length: 1_000 }, (_, at) => `  │ call(${at});`), '- next']);
});

test('reading a text in parts finds the blocks that reading it whole finds', () => {
  const lex = (text: string): string[] =>
    new Lexer({ gfm: true })
      .blockTokens(text, [])
      .filter(({ type }) => type !== 'space')
      // Fences are read by the splitter itself.
      .map(({ type, raw }) => (type === 'code' ? type : `${type} ${raw.replaceAll(/\s+/g, ' ').trim()}`));
  // The lexer takes lines of other white space for text and waits for no end of a fence; what is commented out is read differently in lists.
  const texts = markdownTexts.map((text) => `${text.replaceAll(/^[^\S\n]+$/gm, '')}\n`).filter((text) => !/<!--|~~~|```/.test(text));
  fc.assert(
    fc.property(texts, (text) => {
      const splitter = createBlockSplitter();
      const parts = text.split('\n').flatMap((line) => splitter.push({ text: line }));
      const read = [...parts, ...splitter.rest(undefined)].flatMap((part) => lex(part.lines.join('\n')));
      expect(read).toEqual(lex(text));
    }),
    { numRuns: 500 },
  );
});

test('texts that make parsers slow are read like others', () => {
  // For some of these, the time of a usual parser grows with the third power of their length.
  for (const piece of ['[a](', '**a ', '_a _b', '`a', '<', '![', '[', '](', '~~a', 'http://)', '***a ', '\\', '&', '*a **b ']) {
    const text = piece.repeat(100_000 / piece.length);
    expect(renderMarkdown(text, 80).length).toBeGreaterThan(100);
  }
});
