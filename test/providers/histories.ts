import type { ContentBlock, Message, Role } from '../../src/protocol/messages.js';
import type { HistoryEntry } from '../../src/store/rows/history-rows.js';

/** An entry of a history as the store has it. */
export function entry(role: Role, content: ContentBlock[], more: Partial<Message> = {}, isBeforeSummary = false): HistoryEntry {
  const text = content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('');
  const message: Message = {
    type: 'message',
    id: 'msg_1',
    parent_id: null,
    role,
    text,
    content,
    run_id: 'run_1',
    turn_kind: 'prompt',
    created_at: '2026-01-02T03:04:05.000Z',
    usage: null,
    stop_reason: role === 'assistant' ? 'stop' : null,
    model: null,
    ...more,
  };
  return { message, content, isBeforeSummary };
}

export function says(text: string): HistoryEntry {
  return entry('user', [{ type: 'text', text }]);
}

export function answers(model: string, content: ContentBlock[], more: Partial<Message> = {}): HistoryEntry {
  return entry('assistant', content, { model, ...more });
}

export function returns(tool_call_id: string, content: ContentBlock[], is_error = false): HistoryEntry {
  return entry('tool_result', content, { tool_call_id, tool_name: 'echo', is_error });
}
