import type { Message } from '../../src/protocol/messages.js';

/** An ended message with the fields that matter. */
export function message(fields: Partial<Message>): Message {
  return {
    ...{ type: 'message', id: 'm', parent_id: null, role: 'assistant', text: '', content: [], run_id: 'r', turn_kind: 'prompt' },
    ...{ created_at: '', usage: null, stop_reason: null, model: null },
    ...fields,
  };
}
