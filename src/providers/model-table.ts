import type { ModelEntry } from '../machine/provider-config.js';

// Last compared with the providers' own pages on 2026-11-16. Prices are US dollars per million tokens.
const million = 1_000_000;

function claude(id: string, window: number, maxOutput: number, prices: [number, number, number, number]): ModelEntry {
  return entry(id, window, maxOutput, prices);
}

function gpt(id: string, window: number, [input, cacheRead, cacheWrite, output]: [number, number, number, number]): ModelEntry {
  return entry(id, window, 128_000, [input, output, cacheWrite, cacheRead]);
}

function entry(
  id: string,
  contextWindow: number,
  maxOutput: number,
  [input, output, cache_write, cache_read]: [number, number, number, number],
): ModelEntry {
  return { id, contextWindow, maxOutput, price: { input, output, cache_read, cache_write } };
}

/** The first model is the default. Order of prices: input, output, cache write, cache read. */
export const anthropicModels: readonly ModelEntry[] = [
  claude('claude-sonnet-5-5', million, 128_000, [2, 10, 2.5, 0.1]),
  claude('claude-opus-5-5', million, 128_000, [4, 20, 5, 0.2]),
  claude('claude-haiku-5-5', million, 128_000, [0.1, 0.5, 0.125, 0.01]),
  claude('claude-fable-5-1', million, 128_000, [10, 50, 12.5, 0.25]),
  claude('claude-opus-5', million, 128_000, [5, 25, 6.25, 0.5]),
  claude('claude-sonnet-5', million, 128_000, [2, 10, 2.5, 0.2]),
  claude('claude-opus-4-8', million, 128_000, [5, 25, 6.25, 0.5]),
  claude('claude-sonnet-4-6', million, 64_000, [3, 15, 3.75, 0.3]),
  claude('claude-opus-4-5', 200_000, 64_000, [5, 25, 6.25, 0.5]),
  claude('claude-sonnet-4-5', 200_000, 64_000, [3, 15, 3.75, 0.3]),
  claude('claude-haiku-4-5', 200_000, 64_000, [1, 5, 1.25, 0.1]),
];

/** Order of prices: input, cache read, cache write, output. Long-context surcharges are not included. */
export const openaiModels: readonly ModelEntry[] = [
  gpt('gpt-6.1-sol', 1_050_000, [2, 0.1, 2.5, 10]),
  gpt('gpt-6.1-terra', 1_050_000, [1, 0.05, 1.25, 5]),
  gpt('gpt-6-luna', 1_050_000, [0.1, 0.01, 0.125, 0.5]),
  gpt('gpt-5.6-sol', 1_050_000, [4, 0.4, 4, 20]),
  gpt('gpt-5.6-terra', 1_050_000, [2, 0.2, 2, 12]),
  gpt('gpt-5.6-luna', 1_050_000, [0.2, 0.02, 0.2, 1.2]),
  gpt('gpt-5.4', 1_050_000, [2.5, 0.25, 2.5, 15]),
  gpt('gpt-5.4-mini', 400_000, [0.75, 0.075, 0.75, 4.5]),
  gpt('gpt-5.2', 400_000, [1.75, 0.175, 1.75, 14]),
  gpt('gpt-5.1', 400_000, [1.25, 0.125, 1.25, 10]),
  gpt('gpt-5', 400_000, [1.25, 0.125, 1.25, 10]),
  gpt('gpt-5-mini', 400_000, [0.25, 0.025, 0.25, 2]),
];
