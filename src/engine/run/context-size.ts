import { limits } from '../../protocol/limits.js';
import type { ContentBlock, Usage } from '../../protocol/messages.js';
import type { ModelFacts } from '../../providers/port.js';
import type { HistoryEntry } from '../../store/rows/history-rows.js';

const charsPerToken = 4;
const tuning = {
  /** Estimated tokens of an image of any size. */
  imageTokens: 1_500,
  /** Estimated overhead of an entry: roles, ids and brackets. */
  entryTokens: 8,
} as const;
const perMillion = 1_000_000;

/** Estimated tokens of an entry. */
export function entrySize(content: readonly ContentBlock[]): number {
  let chars = 0;
  let tokens = tuning.entryTokens;
  for (const block of content) {
    switch (block.type) {
      case 'text':
        chars += block.text.length;
        break;
      case 'thinking':
        chars += block.thinking.length;
        break;
      case 'tool_call':
        chars += block.name.length + JSON.stringify(block.arguments).length;
        break;
      case 'image':
        tokens += tuning.imageTokens;
        break;
    }
  }
  return tokens + Math.ceil(chars / charsPerToken);
}

/**
 * Estimated tokens of a request with this history: the provider's usage of the newest answer, and an estimate of the entries after it.
 * Usage from before a summary is ignored; then the prompt is estimated, too.
 */
export function contextSize(history: readonly HistoryEntry[], promptTokens = 0): number {
  let tokens = 0;
  for (const { message, content, isBeforeSummary } of history.toReversed()) {
    const counted = message.role === 'assistant' && !isBeforeSummary ? usedTokens(message.usage) : 0;
    if (counted > 0) return tokens + counted;
    tokens += entrySize(content);
  }
  return tokens + promptTokens;
}

/** Estimated tokens of the system prompt and the tool specs. */
export function promptSize({ system, tools }: { system: string; tools: readonly unknown[] }): number {
  return Math.ceil((system.length + JSON.stringify(tools).length) / charsPerToken);
}

/** Tokens in the context window at the end of an answer; 0 when the provider sent no usage: no request is empty. */
export function usedTokens(usage: Usage | null): number {
  const asked = usage ? usage.input + usage.cache_read + usage.cache_write : 0;
  return usage && asked > 0 ? asked + usage.output : 0;
}

/** Whole percents of the context window that are left; null when the size of the window is unknown. */
export function percentLeft(tokens: number, window: number | null): number | null {
  if (window === null) return null;
  return Math.max(0, Math.min(100, Math.floor(100 - (100 * tokens) / window)));
}

/** The sanitized usage of an answer, with its cost where the price is known. */
export function withCost(usage: Usage | null, price: ModelFacts['price']): Usage | null {
  if (!usage) return usage;
  const { cost_usd } = usage;
  const input = toCount(usage.input);
  const output = toCount(usage.output);
  const cache_read = toCount(usage.cache_read);
  const cache_write = toCount(usage.cache_write);
  const counted = { input, output, cache_read, cache_write, cost_usd };
  if (!price || cost_usd !== null) return counted;
  const cost = input * price.input + output * price.output + cache_read * price.cache_read + cache_write * price.cache_write;
  return { ...counted, cost_usd: cost / perMillion };
}

/** Sanitizes a token count from a server: an integer from 0 to `limits.reportedTokensMax`, otherwise 0. */
function toCount(tokens: number): number {
  return Number.isFinite(tokens) && tokens >= 0 && tokens <= limits.reportedTokensMax ? Math.round(tokens) : 0;
}

/** The bound on the newest history that a compaction keeps. */
export function keptTokensMax(window: number | null): number {
  const share = window === null ? limits.compactKeptTokensMax : (window * limits.compactKeptPercentMax) / 100;
  return Math.min(limits.compactKeptTokensMax, share);
}
