import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createToolOutputs } from '../../../src/view/tools/tool-output.js';

function listen() {
  let text = '';
  const skipped: number[] = [];
  const outputs = createToolOutputs({
    onOutput: (_id, piece) => (text += piece),
    onSkipped: (_id, characters) => skipped.push(characters),
  });
  outputs.begin('c');
  return { outputs, text: () => text, skipped };
}

test('every character of an output is handed out once, and the result brings the rest', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 60 }), fc.array(fc.tuple(fc.nat(60), fc.nat(60))), (whole, cuts) => {
      const { outputs, text } = listen();
      for (const [a, b] of cuts) {
        const from = Math.min(a, text().length);
        outputs.update('c', from, whole.slice(from, from + b));
      }
      expect(text() + outputs.end('c', whole)).toBe(whole);
    }),
  );
});

test('what is missing in between is counted', () => {
  const { outputs, text, skipped } = listen();
  outputs.update('c', 0, 'abc');
  outputs.update('c', 10, 'klm');
  expect([text(), skipped]).toEqual(['abcklm', [7]]);
});

test('a result that is another text than the output brings nothing', () => {
  const { outputs } = listen();
  outputs.update('c', 0, 'progress 1');
  expect(outputs.end('c', 'what came of it')).toBe('');
  expect(outputs.isOpen('c')).toBe(false);
});
