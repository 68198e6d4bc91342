import { toolCallsOf } from '../../src/protocol/content.js';
import type { ModelRequest } from '../../src/providers/port.js';

/** Why a strict provider would answer 400: for every tool call exactly one result, right after the message that made it. */
export function checkRequest({ messages }: ModelRequest): string | undefined {
  let open = new Set<string>();
  if (messages.length === 0) return 'there are no messages';
  for (const [index, { role, content, toolCallId }] of messages.entries()) {
    if (content.length === 0) return `message ${index} is empty`;
    if (role === 'tool_result') {
      if (!open.delete(toolCallId ?? '')) return `message ${index} is a result of ${toolCallId}, which was not called or has its result`;
      continue;
    }
    if (open.size > 0) return `message ${index} comes before the results of ${[...open].join()}`;
    const calls = role === 'assistant' ? toolCallsOf(content).map(({ id }) => id) : [];
    open = new Set(calls);
    if (open.size < calls.length) return `message ${index} makes two calls with one id`;
  }
  if (open.size > 0) return `there are no results of ${[...open].join()}`;
  return messages.at(-1)?.role === 'assistant' ? 'the last message is the model’s own' : undefined;
}
