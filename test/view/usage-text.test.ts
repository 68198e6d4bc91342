import { expect, test } from 'vitest';
import { usageText } from '../../src/view/usage-text.js';

test('usage names the cache and the cost only when they are known', () => {
  const usage = { input: 10, output: 2, cache_read: 0, cache_write: 0, cost_usd: null };
  expect(usageText(usage)).toBe('10 tokens in, 2 out');
  expect(usageText({ ...usage, cache_read: 7, cost_usd: 0.5 })).toBe(
    '10 tokens in, 2 out, 7 read from and 0 written to the cache, $0.5000',
  );
});
