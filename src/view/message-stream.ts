import type { EventPayload } from '../protocol/events.js';
import type { Message } from '../protocol/messages.js';
import type { OpenMessage } from './session-view.js';

export type StreamedKind = 'text' | 'thinking';

/** Deduplicates streamed messages: every character is emitted once, even if deltas overlap or repeat. */
export interface MessageStream {
  /** Takes a delta. */
  update(piece: EventPayload<'message_update'>): void;
  /** Takes the text so far of a message that is still streaming. */
  catchUp(message: OpenMessage): void;
  /** Emits the rest of an ended message. Returns how many emitted characters the message does not have. */
  finish(message: Message): number;
  /** Whether some text of this unfinished message was emitted. */
  isOpen(messageId: string): boolean;
  /** Drops a message that was discarded. */
  drop(messageId: string): void;
}

/** `onText` gets unsanitized text: pass it through `createPrintableStream` before it is shown. */
export function createMessageStream(onText: (messageId: string, kind: StreamedKind, piece: string) => void): MessageStream {
  /** Emitted length of each block, by open message. */
  const open = new Map<string, number[]>();

  function take(messageId: string, block: number, kind: StreamedKind, offset: number, text: string): void {
    const lengths = open.get(messageId) ?? [];
    const sentLength = lengths[block] ?? 0;
    const end = offset + text.length;
    if (end <= sentLength) return;
    open.set(messageId, lengths);
    lengths[block] = end;
    onText(messageId, kind, text.slice(Math.max(0, sentLength - offset)));
  }

  return {
    update({ message_id, block, offset, delta, thinking_delta }) {
      if (delta !== undefined) take(message_id, block, 'text', offset, delta);
      else if (thinking_delta !== undefined) take(message_id, block, 'thinking', offset, thinking_delta);
    },
    catchUp({ id, blocks }) {
      for (const [block, { kind, text }] of blocks.entries()) if (kind !== 'tool_call') take(id, block, kind, 0, text);
    },
    finish({ id, content, truncated }) {
      let lost = 0;
      for (const [block, part] of content.entries()) {
        if (part.type !== 'text' && part.type !== 'thinking') continue;
        const text = part.type === 'text' ? part.text : part.thinking;
        take(id, block, part.type, 0, text);
        lost += Math.max(0, (open.get(id)?.[block] ?? 0) - text.length);
      }
      open.delete(id);
      return truncated ? 0 : lost;
    },
    isOpen: (messageId) => open.has(messageId),
    drop: (messageId) => void open.delete(messageId),
  };
}
