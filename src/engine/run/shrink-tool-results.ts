import type { ContentBlock } from '../../protocol/messages.js';
import type { ModelMessage, ModelRequest } from '../../providers/port.js';
import { entrySize, promptSize } from './context-size.js';

/** Lengths to which each result is truncated, from long to short. */
const charsMax = [32_000, 16_000, 8_000, 4_000, 2_000, 1_000];
/** The share of the context window at which results are truncated, and the share that remains. */
const fullPart = 0.9;
const fittedPart = 0.8;
/** The share after a context overflow. */
const tightPart = 0.5;

/**
 * Truncates the tool results of a request that would overflow the context window: compaction cannot summarise results that the model
 * has not read yet. `tokens` is the estimated size of the request.
 */
export function fitRequest(request: ModelRequest, tokens: number, window: number | null): ModelRequest {
  if (window === null || tokens <= window * fullPart) return request;
  return cutResults(request, sizeOf(request) * ((window * fittedPart) / tokens));
}

/** Truncates the tool results much further; undefined when no result can be truncated. */
export function tightenRequest(request: ModelRequest, window: number | null): ModelRequest | undefined {
  const size = sizeOf(request);
  const tight = cutResults(request, Math.min(size, window ?? size) * tightPart);
  return sizeOf(tight) < size ? tight : undefined;
}

function sizeOf(request: ModelRequest): number {
  return request.messages.reduce((sum, { content }) => sum + entrySize(content), promptSize(request));
}

/** Truncates results no further than the estimate requires, and never below the last of `charsMax`. */
function cutResults(request: ModelRequest, tokensMax: number): ModelRequest {
  let fitted = request;
  for (const max of charsMax) {
    fitted = { ...request, messages: request.messages.map((message) => cutResult(message, max)) };
    if (sizeOf(fitted) <= tokensMax) break;
  }
  return fitted;
}

function cutResult(message: ModelMessage, max: number): ModelMessage {
  return message.role === 'tool_result' ? { ...message, content: message.content.map((block) => cutBlock(block, max)) } : message;
}

/** Truncates the middle of a text: its beginning and end are most informative. */
function cutBlock(block: ContentBlock, max: number): ContentBlock {
  if (block.type !== 'text' || block.text.length <= max) return block;
  const { text } = block;
  const left = `\n[${text.length - max} characters were left out here: they do not fit the context window; ask for a part of them]\n`;
  return { type: 'text', text: `${text.slice(0, max / 2)}${left}${text.slice(-max / 2)}`.toWellFormed() };
}
