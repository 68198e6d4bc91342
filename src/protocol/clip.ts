import { isPlain, textOf, utf8Bytes, wholeUnits } from './content.js';
import { limits } from './limits.js';
import type { ContentBlock, Message } from './messages.js';

/** A unit of text is at most six bytes of JSON, and a message shows its text twice. */
const clipUnitsMax = Math.floor(limits.messageInlineBytesMax / 8);

/** The beginning of content that is too long for a line. What does not fit is cut or emptied, never left out. */
export function clipContent(content: readonly ContentBlock[]): ContentBlock[] {
  let left = clipUnitsMax;
  const cut = (text: string): string => {
    const kept = text.slice(0, wholeUnits(text, left));
    left -= kept.length;
    return kept;
  };
  return content.map((block): ContentBlock => {
    switch (block.type) {
      case 'text':
        return { type: 'text', text: cut(block.text) };
      case 'thinking':
        return { type: 'thinking', thinking: cut(block.thinking) };
      case 'image':
        return { type: 'image', data: block.data.length > left ? '' : cut(block.data), mime_type: block.mime_type };
      case 'tool_call': {
        const { type, id, name } = block;
        const size = JSON.stringify(block.arguments).length;
        if (size > left) return { type, id, name, arguments: {} };
        left -= size;
        return { type, id, name, arguments: block.arguments };
      }
    }
  });
}

/** Calls of which all arguments together fit a line, as those of a message do. Where there is no room they are shown empty. */
export function clipArgs<T extends { args: Record<string, unknown> }>(calls: readonly T[]): T[] {
  let left = limits.messageInlineBytesMax;
  return calls.map((call) => ((left -= utf8Bytes(JSON.stringify(call.args))) >= 0 ? call : { ...call, args: {} }));
}

/** The artifact that holds the whole text of a message that was too long for a line. */
export function artifactIdOf(messageId: string): string {
  return messageId.replace(/^msg_/, 'art_');
}

/** A message as the wire shows it. */
export function clipMessage(message: Message): Message {
  const plain = isPlain(message.content);
  if (message.truncated || (plain && message.text.length * 6 < limits.messageInlineBytesMax)) return message;
  // The same measure as the store's: JSON bytes of what is kept.
  const bytes = utf8Bytes(JSON.stringify(plain ? message.text : message.content));
  if (bytes <= limits.messageInlineBytesMax) return message;
  const content = clipContent(message.content);
  return { ...message, content, text: textOf(content), truncated: true, artifact_id: artifactIdOf(message.id) };
}
