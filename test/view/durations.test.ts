import { expect, test } from 'vitest';
import { formatAge, formatDuration } from '../../src/view/durations.js';

test('an age is told in its largest unit', () => {
  expect([-5, 0, 999, 59_999, 60_000, 3_599_999, 86_399_999, 172_800_000].map(formatAge)).toEqual([
    '0s',
    '0s',
    '0s',
    '59s',
    '1m',
    '59m',
    '23h',
    '2d',
  ]);
});

test('a duration is told as exactly as its length deserves', () => {
  expect([0.4, 12.6, 1_000, 59_900, 61_000].map(formatDuration)).toEqual(['0 ms', '13 ms', '1.0 s', '59.9 s', '1 min 1 s']);
});
