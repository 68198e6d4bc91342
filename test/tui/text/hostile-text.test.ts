import fc from 'fast-check';
import { expect, test } from 'vitest';
import { encodeRow } from '../../../src/tui/rows/encode.js';
import { chooseLook } from '../../../src/tui/rows/look.js';
import { fitRow, row, rowWidth, span, spreadRow, type Row } from '../../../src/tui/rows/row.js';
import { wrapSpans } from '../../../src/tui/rows/wrap.js';
import { renderDiff } from '../../../src/tui/text/diff.js';
import { renderDivider } from '../../../src/tui/text/divider.js';
import { highlightLine } from '../../../src/tui/text/highlight.js';
import { languages } from '../../../src/tui/text/languages.js';
import { renderMarkdown } from '../../../src/tui/text/markdown.js';
import { createMarkdownStream } from '../../../src/tui/text/markdown-stream.js';
import { renderToolBlock, type ToolBlock } from '../../../src/tui/text/tool-block.js';
import { hidden } from '../../view/hostile-text.js';
import { showRows } from '../rows/headless-screen.js';
import { hostileTexts } from '../rows/hostile-texts.js';

const look = chooseLook({ env: {}, background: 'dark' });
const asciiLook = chooseLook({ env: { LANG: 'C' }, background: 'dark' });
const widths = fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 160 }));
const states: ToolBlock['state'][] = ['waiting', 'running', 'ok', 'failed', 'skipped', 'interrupted'];

/** Every way of a text to rows. */
const renderers: Record<string, (text: string, columns: number) => Row[]> = {
  renderMarkdown,
  createMarkdownStream(text, columns) {
    const stream = createMarkdownStream();
    for (const unit of text.split('')) {
      stream.push(unit);
      stream.rows(columns);
    }
    return [...stream.rows(columns)];
  },
  renderDiff: (text, columns) => renderDiff(text, columns),
  'renderDiff of lines': (text, columns) =>
    renderDiff(
      `--- a/f\n+++ b/f\n@@ -1,9 +1,9 @@\n${text
        .split('\n')
        .map((line, at) => `${'+- '.charAt(at % 3)}${line}`)
        .join('\n')}`,
      columns,
    ),
  renderToolBlock: (text, columns) =>
    states.flatMap((state, at) =>
      renderToolBlock(
        { state, name: text, headline: `$ ${text}`, output: text, reason: text, took: text, artifact: text, folded: at % 2 === 0 },
        columns,
      ),
    ),
  'renderToolBlock with a diff': (text, columns) =>
    renderToolBlock({ state: 'ok', name: 'edit', headline: text, output: '', diff: text, folded: false }, columns),
  renderDivider: (text, columns) => [renderDivider(text, columns)],
  wrapSpans: (text, columns) =>
    wrapSpans([span(text), span(text, 'bad')], columns, { first: [span(text.slice(0, 3))], rest: [span('    ')] }),
  'a row as it is': (text, columns) => [
    row(text),
    fitRow(row(text, span(text, { reverse: true })), columns),
    spreadRow([span(text)], [span(text)], columns),
  ],
};

test.each(Object.keys(renderers))('no text moves the cursor or makes a row too wide: %s', async (name) => {
  await fc.assert(
    fc.asyncProperty(hostileTexts, widths, async (text, columns) => {
      const rows = renderers[name]!(text, columns);
      const encoded = rows.map((one) => encodeRow(one, columns, look));
      const visible = encoded.map((bytes) => bytes.replaceAll(/\u001b\[[\d;]*m/g, '')); // eslint-disable-line no-control-regex
      for (const bytes of visible) expect(bytes).not.toMatch(hidden);
      expect(visible.join('')).not.toMatch(/[\n\t]/);
      const screen = await showRows(encoded, columns);
      expect({ height: screen.height, wrapped: screen.wrapped }).toEqual({ height: Math.max(1, rows.length), wrapped: 0 });
      const inAscii = rows.map((one) => encodeRow(one, columns, asciiLook).replaceAll(/\u001b\[[\d;]*m/g, '')); // eslint-disable-line no-control-regex
      for (const text of inAscii) expect([text, text.length <= columns]).toEqual([expect.stringMatching(/^[ -~]*$/), true]);
    }),
    { numRuns: name === 'createMarkdownStream' ? 20 : 80 },
  );
});

test.each(Object.keys(renderers).filter((name) => name !== 'a row as it is' && name !== 'wrapSpans'))(
  'rows fit before they are encoded, so that nothing is cut off there: %s',
  (name) => {
    fc.assert(
      fc.property(hostileTexts, widths, (text, columns) => {
        for (const one of renderers[name]!(text, columns)) {
          expect(rowWidth(one)).toBeLessThanOrEqual(columns);
          expect(one.gutter ?? 0).toBeLessThanOrEqual(columns);
        }
      }),
      { numRuns: name === 'createMarkdownStream' ? 20 : 80 },
    );
  },
);

test.each(languages.map(({ names: [name = ''] }) => name))('colours take nothing away and add nothing: %s', (language) => {
  fc.assert(
    fc.property(hostileTexts, fc.integer({ min: -1, max: 2 }), (text, open) => {
      expect(
        highlightLine(text, language, open)
          .spans.map((one) => one.text)
          .join(''),
      ).toBe(text);
    }),
  );
});
