import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { makeId } from '../../src/protocol/ids.js';

const lastMs = Date.UTC(2999, 11, 31);
const bytes = fc.uint8Array({ minLength: 12, maxLength: 12 });

test('ids sort by the time they were made at', () => {
  fc.assert(
    fc.property(fc.nat(lastMs), fc.integer({ min: 1, max: 1_000_000 }), bytes, bytes, (earlier, laterBy, one, other) => {
      expect(makeId('msg', earlier, one) < makeId('msg', earlier + laterBy, other)).toBe(true);
    }),
  );
});

test('an id is its prefix and 21 characters that a person can read aloud', () => {
  fc.assert(
    fc.property(fc.nat(lastMs), bytes, (nowMs, random) => {
      expect(makeId('ses', nowMs, random)).toMatch(/^ses_[0-9a-hjkmnp-tv-z]{21}$/);
    }),
  );
});

test('a hundred thousand ids of one millisecond are all different', () => {
  const ids = new Set(Array.from({ length: 100_000 }, () => makeId('msg', 1, randomBytes(12))));
  expect(ids.size).toBe(100_000);
});
