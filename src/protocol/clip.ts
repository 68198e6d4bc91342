import { isPlain, textOf, utf8Bytes, wholeUnits } from './content.js';
import { limits } from './limits.js';
import type { ContentBlock, Message, ResultDetails } from './messages.js';

/** A UTF-16 unit is at most six bytes of JSON, and a message has its text twice. */
const clipUnitsMax = Math.floor(limits.messageInlineBytesMax / 8);

/** Truncates content to the line limit. Blocks that do not fit are truncated or emptied, never dropped. */
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

/** Truncates tool calls to the line limit: arguments that do not fit are shown empty. */
export function clipArgs<T extends { args: Record<string, unknown> }>(calls: readonly T[]): T[] {
  let left = limits.messageInlineBytesMax;
  return calls.map((call) => ((left -= utf8Bytes(JSON.stringify(call.args))) >= 0 ? call : { ...call, args: {} }));
}

/** Details of a tool result within their limits, and without what is not of their shape: tools of others make them, too. */
export function clipDetails({ diff, exit_code, signal, artifact_id, counts }: ResultDetails): ResultDetails {
  const numbers = Object.entries(counts ?? {}).filter(([key, value]) => key.length <= limits.countNameCharsMax && Number.isFinite(value));
  return {
    ...(typeof diff === 'string' ? { diff: clipDiff(diff) } : {}),
    ...(Number.isFinite(exit_code) ? { exit_code } : {}),
    ...(typeof signal === 'string' ? { signal: signal.slice(0, limits.signalNameCharsMax) } : {}),
    ...(typeof artifact_id === 'string' && artifact_id.length <= limits.idCharsMax ? { artifact_id } : {}),
    ...(counts ? { counts: Object.fromEntries(numbers.slice(0, limits.resultCountsMax)) } : {}),
  };
}

function clipDiff(diff: string): string {
  if (diff.length * 3 <= limits.diffBytesMax || utf8Bytes(diff) <= limits.diffBytesMax) return diff;
  // A UTF-16 unit is at most three bytes of UTF-8.
  return diff.slice(0, wholeUnits(diff, Math.floor(limits.diffBytesMax / 3)));
}

/** The artifact id of the whole text of a truncated message. */
export function artifactIdOf(messageId: string): string {
  return messageId.replace(/^msg_/, 'art_');
}

/** A message for the wire, truncated to the line limit. */
export function clipMessage(message: Message): Message {
  const plain = isPlain(message.content);
  if (message.truncated || (plain && message.text.length * 6 < limits.messageInlineBytesMax)) return message;
  // The same measure as in the store: JSON bytes of the stored content.
  const bytes = utf8Bytes(JSON.stringify(plain ? message.text : message.content));
  if (bytes <= limits.messageInlineBytesMax) return message;
  const content = clipContent(message.content);
  return { ...message, content, text: textOf(content), truncated: true, artifact_id: artifactIdOf(message.id) };
}
