import type { ContentBlock, Message } from '../protocol/messages.js';
import { goOn, type ModelMessage } from '../providers/port.js';
import { toolCallsOf } from '../protocol/content.js';

const notRun: ContentBlock[] = [{ type: 'text', text: 'Not run.' }];

/**
 * The history as a provider accepts it: for every tool call exactly one result, right after the message that made it;
 * results without a call are left out, and the last word is not the model's own.
 */
export function toModelMessages(history: readonly { message: Message; content: ContentBlock[] }[]): ModelMessage[] {
  const messages: ModelMessage[] = [];
  let open = new Map<string, string>();

  function closeCalls(): void {
    for (const [toolCallId, toolName] of open) {
      messages.push({ role: 'tool_result', content: notRun, toolCallId, toolName, isError: true });
    }
    open = new Map();
  }

  // A history that was cut at its beginning starts with what a person said.
  const start = history.findIndex(({ message }) => message.role === 'user');
  for (const { message, content } of start === -1 ? [] : history.slice(start)) {
    if (message.role === 'tool_result') {
      const toolCallId = message.tool_call_id ?? '';
      if (!open.delete(toolCallId)) continue;
      messages.push({ role: 'tool_result', content, toolCallId, toolName: message.tool_name ?? '', isError: message.is_error ?? false });
      continue;
    }
    closeCalls();
    messages.push({ role: message.role, content });
    if (message.role === 'assistant') open = new Map(toolCallsOf(content).map(({ id, name }) => [id, name]));
  }
  closeCalls();
  if (messages.at(-1)?.role === 'assistant') {
    messages.push({ role: 'user', content: [{ type: 'text', text: goOn }] });
  }
  return messages;
}
