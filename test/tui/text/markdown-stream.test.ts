import fc from 'fast-check';
import type { Lexer, Token, TokensList } from 'marked';
import { afterEach, expect, test, vi } from 'vitest';
import { sized } from '../../support/fault-sizes.js';
import { rowText } from '../../../src/tui/rows/row.js';
import type { wrapSpans } from '../../../src/tui/rows/wrap.js';
import { renderMarkdown } from '../../../src/tui/text/markdown.js';
import { createMarkdownStream } from '../../../src/tui/text/markdown-stream.js';
import { markdownTexts, piecesOf } from './markdown-texts.js';

const work = vi.hoisted(() => ({ units: 0 }));

/** Counts what is read: each block that the lexer looks at, at any depth. */
vi.mock('marked', async (importOriginal) => {
  const original = await importOriginal<{ Lexer: typeof Lexer }>();
  class CountingLexer extends original.Lexer {
    override blockTokens(text: string, tokens?: Token[], isClipped?: boolean): Token[];
    override blockTokens(text: string, tokens?: TokensList, isClipped?: boolean): TokensList;
    override blockTokens(text: string, tokens?: Token[], isClipped?: boolean): Token[] {
      work.units += text.length;
      return super.blockTokens(text, tokens, isClipped);
    }
  }
  return { ...original, Lexer: CountingLexer };
});

/** Counts what is laid out. */
vi.mock('../../../src/tui/rows/wrap.js', async (importOriginal) => {
  const original = await importOriginal<{ wrapSpans: typeof wrapSpans }>();
  return {
    wrapSpans(...args: Parameters<typeof wrapSpans>) {
      work.units += args[0].reduce((sum, { text }) => sum + text.length, 0);
      return original.wrapSpans(...args);
    },
  };
});

afterEach(() => (work.units = 0));

test('a text in pieces gives the rows of the whole text', () => {
  fc.assert(
    fc.property(piecesOf(markdownTexts), fc.integer({ min: 1, max: 100 }), (pieces, columns) => {
      const stream = createMarkdownStream();
      for (const piece of pieces) {
        stream.push(piece);
        stream.rows(columns);
      }
      expect(stream.rows(columns)).toEqual(renderMarkdown(pieces.join(''), columns));
    }),
    { numRuns: sized({ short: 60, long: 200, full: 2_000 }) },
  );
});

test('long blocks in pieces give the rows of the whole text as well', () => {
  const long = fc
    .tuple(fc.constantFrom(...Object.keys(longTexts)), fc.nat({ max: 9_000 }))
    .map(([kind, units]) => longTexts[kind]!.slice(0, units));
  fc.assert(
    fc.property(long, fc.integer({ min: 1, max: 3_000 }), (text, length) => {
      const stream = createMarkdownStream();
      for (let at = 0; at < text.length; at += length) {
        stream.push(text.slice(at, at + length));
        stream.rows(70);
      }
      expect(stream.rows(70)).toEqual(renderMarkdown(text, 70));
    }),
    { numRuns: sized({ short: 10, long: 30, full: 300 }) },
  );
});

test('the rows follow the width, whatever was laid out before', () => {
  fc.assert(
    fc.property(markdownTexts, markdownTexts, (text, more) => {
      const stream = createMarkdownStream();
      stream.push(text);
      stream.rows(80);
      expect(stream.rows(30)).toEqual(renderMarkdown(text, 30));
      stream.push(more);
      expect(stream.rows(80)).toEqual(renderMarkdown(text + more, 80));
    }),
  );
});

const size = 200 * 1024;
const repeat = (make: (line: number) => string): string => {
  const lines: string[] = [];
  for (let units = 0; units < size; units += lines.at(-1)!.length + 1) lines.push(make(lines.length));
  return lines.join('\n');
};
const longTexts: Record<string, string> = {
  'one line': 'A sentence of **strong** words and `code`, again and again. '.repeat(size / 60),
  'one word': 'x'.repeat(size),
  'one paragraph': repeat((line) => `line ${line} with *emphasis* and [a link](https://example.com/${line})`),
  'one block of code': `\`\`\`ts\n${repeat((line) => `const value${line} = "text"; /* comment ${line} */`)}`,
  'one line of code': `\`\`\`ts\n${'const x = 1; '.repeat(size / 13)}`,
  'one list': repeat((line) => `- item ${line}`),
  'one numbered list': repeat((line) => `${line + 1}. item\n\n   with a second paragraph`),
  'one item': `- item\n${repeat((line) => `  goes on in line ${line}`)}`,
  'one nested list': `- item\n${repeat((line) => `  - inner ${line}\n    1. innermost`)}`,
  'one item of code': `- item\n\n  \`\`\`js\n${repeat((line) => `  call(${line});`)}`,
  'one table': `| a | b |\n|---|---|\n${repeat((line) => `| row ${line} | text |`)}`,
  'one quote': repeat((line) => `> quoted line ${line}`),
  'one comment': `<!-- ${repeat((line) => `line ${line}\n`)}`,
  'indented code': repeat((line) => `    code ${line}`),
  'blank lines': '\n'.repeat(size),
  'many paragraphs': repeat((line) => (line % 2 === 0 ? `paragraph ${line}` : '')),
};

test.each(Object.keys(longTexts))('a piece of a long answer costs as much at its end as at its beginning: %s', (kind) => {
  const text = longTexts[kind]!;
  const stream = createMarkdownStream();
  /** The most expensive frame within a window of the text. */
  const costs = { early: 0, late: 0 };
  for (let at = 0; at < text.length; at += 4) {
    stream.push(text.slice(at, at + 4));
    const window = at < 8_192 ? 'early' : at > text.length - 8_192 ? 'late' : undefined;
    if (at % (window ? 32 : 4_096) === 0) stream.rows(80);
    if (window) costs[window] = Math.max(costs[window], work.units);
    work.units = 0;
  }
  const worst = 3 * 8_192;
  expect(costs.early).toBeLessThan(worst);
  expect(costs.late).toBeLessThan(worst);
});

test('nothing is laid out again when nothing came', () => {
  const stream = createMarkdownStream();
  stream.push('# Title\n\ntext');
  stream.rows(80);
  work.units = 0;
  stream.rows(80);
  stream.push('');
  stream.rows(80);
  expect(work.units).toBe(0);
});

function textsAfter(...pieces: string[]): string[] {
  const stream = createMarkdownStream();
  for (const piece of pieces) stream.push(piece);
  return stream.rows(40).map(rowText);
}

test('code without its closing fence is code', () => {
  expect(textsAfter('```ts\nconst a')).toEqual(['│ const a']);
  expect(textsAfter('```')).toEqual(['│ ']);
});

test('a row of a table joins it when the row is complete', () => {
  const head = '| a | b |\n|---|---|\n';
  expect(textsAfter(head, '| first | 2')).toEqual(['a │ b', '──┼──', '| first | 2']);
  expect(textsAfter(head, '| first | 2 |')).toEqual(['a     │ b', '──────┼──', 'first │ 2']);
  expect(textsAfter('| a | b |\n|--')).toEqual(['| a | b |', '|--']);
});

test('a list is not taken for a heading while its first dash is all there is', () => {
  expect(createMarkdownStream().rows(40)).toEqual([]);
  const stream = createMarkdownStream();
  stream.push('Steps:\n-');
  expect(stream.rows(40)[0]!.spans).toEqual([{ text: 'Steps:' }]);
});

test('what was shown of finished blocks stays the same rows', () => {
  const stream = createMarkdownStream();
  stream.push('# Title\n\nfirst\n\nsecond\n');
  const before = [...stream.rows(40)];
  stream.push('goes on\n\nthird');
  const after = stream.rows(40);
  for (const at of [0, 1, 2]) expect(after[at]).toBe(before[at]);
});
