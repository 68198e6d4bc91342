import type { ContentBlock } from '../../protocol/messages.js';
import type { ModelMessage, ModelRequest } from '../../providers/port.js';
import { entrySize, promptSize } from './context-size.js';

/** What is left of each result, from much to little. */
const charsMax = [32_000, 16_000, 8_000, 4_000, 2_000, 1_000];
/** How full the window may be before results are cut, and how full it is then. */
const fullPart = 0.9;
const fittedPart = 0.8;
/** After a provider has said that it was too much all the same. */
const tightPart = 0.5;

/**
 * The same request with the results of tools cut where they would not fit the window: there is no summary of what a model has not
 * read yet. `tokens` is about how many it has.
 */
export function fitRequest(request: ModelRequest, tokens: number, window: number | null): ModelRequest {
  if (window === null || tokens <= window * fullPart) return request;
  return cutResults(request, sizeOf(request) * ((window * fittedPart) / tokens));
}

/** The same request with much shorter results; undefined when there is nothing to cut. */
export function tightenRequest(request: ModelRequest, window: number | null): ModelRequest | undefined {
  const size = sizeOf(request);
  const tight = cutResults(request, Math.min(size, window ?? size) * tightPart);
  return sizeOf(tight) < size ? tight : undefined;
}

function sizeOf(request: ModelRequest): number {
  return request.messages.reduce((sum, { content }) => sum + entrySize(content), promptSize(request));
}

/** Cuts no more than it takes for about so many tokens, and never all. */
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

/** The beginning and the end say most. */
function cutBlock(block: ContentBlock, max: number): ContentBlock {
  if (block.type !== 'text' || block.text.length <= max) return block;
  const { text } = block;
  const left = `\n[${text.length - max} characters were left out here: they do not fit the context window; ask for a part of them]\n`;
  return { type: 'text', text: `${text.slice(0, max / 2)}${left}${text.slice(-max / 2)}`.toWellFormed() };
}
