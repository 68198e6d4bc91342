import fc from 'fast-check';
import { expect, test } from 'vitest';
import { textOf, toolCallsOf, utf8Bytes, wholeUnits } from '../../src/protocol/content.js';

const anyText = fc.string({ unit: 'binary', maxLength: 50 });

test('utf8Bytes counts what a Buffer would', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      expect(utf8Bytes(text)).toBe(Buffer.byteLength(text));
    }),
  );
  expect(utf8Bytes('aé€😀')).toBe(10);
});

test('wholeUnits never leaves half a pair and never gives more than was asked', () => {
  fc.assert(
    fc.property(anyText, fc.nat(60), (text, end) => {
      const at = wholeUnits(text, end);
      expect(at).toBeLessThanOrEqual(Math.min(end, text.length));
      expect(at).toBeGreaterThanOrEqual(Math.min(end, text.length) - 1);
      expect(text.slice(0, at).isWellFormed()).toBe(true);
      expect(text.slice(at).isWellFormed()).toBe(true);
    }),
  );
});

test('the text of a message is its text blocks joined with nothing', () => {
  const call = { type: 'tool_call' as const, id: 'c', name: 'echo', arguments: {} };
  const content = [
    { type: 'text' as const, text: 'a' },
    { type: 'thinking' as const, thinking: 'no' },
    call,
    { type: 'text' as const, text: 'b' },
  ];
  expect(textOf(content)).toBe('ab');
  expect(textOf([])).toBe('');
  expect(toolCallsOf(content)).toEqual([call]);
});
