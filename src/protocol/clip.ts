import { textOf, wholeUnits } from './content.js';
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
  return content.map((block) => {
    switch (block.type) {
      case 'text':
        return { ...block, text: cut(block.text) };
      case 'thinking':
        return { ...block, thinking: cut(block.thinking) };
      case 'image':
        return block.data.length > left ? { ...block, data: '' } : { ...block, data: cut(block.data) };
      case 'tool_call': {
        const size = JSON.stringify(block.arguments).length;
        if (size > left) return { ...block, arguments: {} };
        left -= size;
        return block;
      }
    }
  });
}

/** The artifact that holds the whole text of a message that was too long for a line. */
export function artifactIdOf(messageId: string): string {
  return messageId.replace(/^msg_/, 'art_');
}

/** A message as the wire shows it. */
export function clipMessage(message: Message): Message {
  const roughUnits = message.text.length + message.content.length * 100;
  const surelyShort = message.content.length === 1 && message.content[0]?.type === 'text' && roughUnits * 6 < limits.messageInlineBytesMax;
  if (surelyShort || message.truncated) return message;
  // The same measure as the store's: JSON bytes of what is kept.
  const [only] = message.content;
  const plain = message.content.length === 1 && only?.type === 'text' && Object.keys(only).length === 2;
  const bytes = new TextEncoder().encode(JSON.stringify(plain ? message.text : message.content)).length;
  if (bytes <= limits.messageInlineBytesMax) return message;
  const content = clipContent(message.content);
  return { ...message, content, text: textOf(content), truncated: true, artifact_id: artifactIdOf(message.id) };
}
