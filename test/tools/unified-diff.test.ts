import { applyPatch } from 'diff';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { limits } from '../../src/protocol/limits.js';
import { diffTexts } from '../../src/tools/files/unified-diff.js';

const text = fc
  .array(fc.constantFrom('', 'a', 'b', 'c\r', 'ä😀', '-', '+ x', ' '), { maxLength: 30 })
  .chain((lines) => fc.constantFrom(lines.join('\n'), `${lines.join('\n')}\n`));

test('applied to the old text, a diff gives the new one', () => {
  fc.assert(
    fc.property(text, text, text, text, (begin, before, after, end) => {
      const [from, to] = [begin + before + end, begin + after + end];
      expect(applyPatch(from, diffTexts('f', from, to).diff, { autoConvertLineEndings: false })).toBe(to);
    }),
    { numRuns: 500 },
  );
});

test('far inside of a large text a diff has the right line numbers', () => {
  const lines = Array.from({ length: 100_000 }, (_, i) => `line ${i + 1}`);
  const before = `${lines.join('\n')}\n`;
  const { diff, added, removed } = diffTexts('f', before, before.replace('line 70000\n', 'x\ny\n'));
  expect(diff).toBe(
    '--- f\n+++ f\n@@ -69997,7 +69997,8 @@\n line 69997\n line 69998\n line 69999\n-line 70000\n+x\n+y\n line 70001\n line 70002\n line 70003\n',
  );
  expect([added, removed]).toEqual([2, 1]);
});

test('texts that have nothing in common are compared in bounded time, and the diff is cut', () => {
  const make = (word: string): string => Array.from({ length: 100_000 }, (_, i) => `${word} ${i}`).join('\n');
  const begun = performance.now();
  const { diff, added, removed } = diffTexts('f', make('old'), make('new'));
  expect(performance.now() - begun).toBeLessThan(5_000);
  expect([added, removed]).toEqual([100_000, 100_000]);
  expect(Buffer.byteLength(diff)).toBeLessThan(limits.diffBytesMax + 100);
  expect(diff).toMatch(/\[\d+ more lines of the diff are not shown\]\n$/);
});
