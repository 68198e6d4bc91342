import { toolCallsOf } from '../../protocol/content.js';
import type { ContentBlock } from '../../protocol/messages.js';
import { goOn, type ModelMessage } from '../../providers/port.js';
import type { HistoryEntry } from '../../store/rows/history-rows.js';

const notRun: ContentBlock[] = [{ type: 'text', text: 'Not run.' }];

/**
 * The history as a provider accepts it: for every tool call exactly one result, right after the message that made it;
 * results without a call are left out, two answers have a question between them, and the last word is not the model's own.
 */
export function toModelMessages(history: readonly HistoryEntry[]): ModelMessage[] {
  const messages: ModelMessage[] = [];
  let open = new Map<string, string>();

  function closeCalls(): void {
    for (const [toolCallId, toolName] of open) {
      messages.push({ role: 'tool_result', content: notRun, toolCallId, toolName, isError: true });
    }
    open = new Map();
  }

  // A history that was cut at its beginning starts with what a person said.
  const start = history.findIndex(({ message: { role } }) => role === 'user' || role === 'compaction');
  for (const { message, content, isBeforeSummary } of start === -1 ? [] : history.slice(start)) {
    if (message.role === 'tool_result') {
      const toolCallId = message.tool_call_id ?? '';
      if (!open.delete(toolCallId)) continue;
      messages.push({ role: 'tool_result', content, toolCallId, toolName: message.tool_name ?? '', isError: message.is_error ?? false });
      continue;
    }
    closeCalls();
    if (message.role === 'compaction') {
      messages.push({ role: 'user', content: [{ type: 'text', text: introduceSummary(message.text) }] });
    } else if (message.role === 'user') {
      messages.push({ role: 'user', content });
    } else {
      // Providers bind thoughts to the words that they followed, and a summary changed those.
      const said = isBeforeSummary ? content.filter(({ type }) => type !== 'thinking') : content;
      if (said.length === 0) continue;
      // As it was asked for at the time, when it went on with an answer that was cut.
      if (messages.at(-1)?.role === 'assistant') messages.push(askToGoOn());
      messages.push({ role: 'assistant', content: said, model: message.model });
      open = new Map(toolCallsOf(content).map(({ id, name }) => [id, name]));
    }
  }
  closeCalls();
  if (messages.at(-1)?.role === 'assistant') messages.push(askToGoOn());
  return messages;
}

function askToGoOn(): ModelMessage {
  return { role: 'user', content: [{ type: 'text', text: goOn }] };
}

function introduceSummary(summary: string): string {
  return `Earlier parts of this conversation were replaced by this summary of them:\n\n<summary>\n${summary}\n</summary>`;
}
