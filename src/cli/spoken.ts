import type { OpenMessage } from '../view/session-view.js';
import type { EventPayload } from '../protocol/events.js';
import type { Message } from '../protocol/messages.js';

type Kind = 'text' | 'thinking';

/** Follows messages as they are said, and hands out every character once, however often it was sent. */
export interface Spoken {
  /** A piece of a message. */
  hear(piece: EventPayload<'message_update'>): void;
  /** What there is already of a message that is being said. */
  catchUp(message: OpenMessage): void;
  /** The rest of a message. Returns how many characters had been handed out that it does not have. */
  finish(message: Message): number;
  /** Has something of this unfinished message been handed out? */
  knows(messageId: string): boolean;
  /** A message came to nothing. */
  forget(messageId: string): void;
}

export function createSpoken(say: (messageId: string, kind: Kind, piece: string) => void): Spoken {
  const heard = new Map<string, number[]>();

  function take(messageId: string, block: number, kind: Kind, offset: number, text: string): void {
    const lengths = heard.get(messageId) ?? [];
    const known = lengths[block] ?? 0;
    const end = offset + text.length;
    if (end <= known) return;
    heard.set(messageId, lengths);
    lengths[block] = end;
    say(messageId, kind, text.slice(Math.max(0, known - offset)));
  }

  return {
    hear({ message_id, block, offset, delta, thinking_delta }) {
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
        lost += Math.max(0, (heard.get(id)?.[block] ?? 0) - text.length);
      }
      heard.delete(id);
      return truncated ? 0 : lost;
    },
    knows: (messageId) => heard.has(messageId),
    forget: (messageId) => void heard.delete(messageId),
  };
}
