import type { EventPayload } from '../protocol/events.js';
import type { Message } from '../protocol/messages.js';
import type { OpenMessage } from './session-view.js';

export type StreamedKind = 'text' | 'thinking';

/** Follows messages while they are streamed, and hands out every character once, however often it was sent. */
export interface MessageStream {
  /** Takes a piece of a message. */
  update(piece: EventPayload<'message_update'>): void;
  /** Takes all that a view has of a message that is still being streamed. */
  catchUp(message: OpenMessage): void;
  /** Hands out the rest of a message that has ended. Returns how many characters were handed out that the message does not have. */
  finish(message: Message): number;
  /** Whether something of this unfinished message was handed out. */
  isOpen(messageId: string): boolean;
  /** Forgets a message that came to nothing. */
  drop(messageId: string): void;
}

/** `onText` gets the text as it was sent: it must be made printable before it is shown, with `createPrintableStream`. */
export function createMessageStream(onText: (messageId: string, kind: StreamedKind, piece: string) => void): MessageStream {
  /** Of each open message, how much of each block was handed out. */
  const open = new Map<string, number[]>();

  function take(messageId: string, block: number, kind: StreamedKind, offset: number, text: string): void {
    const lengths = open.get(messageId) ?? [];
    const known = lengths[block] ?? 0;
    const end = offset + text.length;
    if (end <= known) return;
    open.set(messageId, lengths);
    lengths[block] = end;
    onText(messageId, kind, text.slice(Math.max(0, known - offset)));
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
