import { toolCallsOf } from '../../protocol/content.js';
import type { ContentBlock } from '../../protocol/messages.js';
import { continuePrompt, type ModelMessage } from '../../providers/port.js';
import type { HistoryEntry } from '../../store/rows/history-rows.js';

const notRun: ContentBlock[] = [{ type: 'text', text: 'Not run.' }];

/**
 * The history as model APIs accept it: for every tool call exactly one result, right after the message of the call; results without a
 * call are left out, a user message separates two answers, and the last message is not the model's.
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

  // A history that was truncated at its beginning starts with a user message or a summary.
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
      // A summary invalidates the signatures of older thinking blocks, which cover the preceding messages.
      const answer = isBeforeSummary ? content.filter(({ type }) => type !== 'thinking') : content;
      if (answer.length === 0) continue;
      // An answer that continued a truncated one was asked for with the same message.
      if (messages.at(-1)?.role === 'assistant') messages.push(askToGoOn());
      messages.push({ role: 'assistant', content: answer, model: message.model });
      open = new Map(toolCallsOf(content).map(({ id, name }) => [id, name]));
    }
  }
  closeCalls();
  if (messages.at(-1)?.role === 'assistant') messages.push(askToGoOn());
  return messages;
}

function askToGoOn(): ModelMessage {
  return { role: 'user', content: [{ type: 'text', text: continuePrompt }] };
}

function introduceSummary(summary: string): string {
  return `Earlier parts of this conversation were replaced by this summary of them:\n\n<summary>\n${summary}\n</summary>`;
}
