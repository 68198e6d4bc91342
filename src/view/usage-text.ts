import type { Usage } from '../protocol/messages.js';

/** Describes token usage and cost. */
export function usageText({ input, output, cache_read, cache_write, cost_usd }: Usage): string {
  const cached = cache_read + cache_write === 0 ? '' : `, ${cache_read} read from and ${cache_write} written to the cache`;
  return `${input} tokens in, ${output} out${cached}${cost_usd === null ? '' : `, $${cost_usd.toFixed(4)}`}`;
}
