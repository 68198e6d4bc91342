import type { ContentBlock, ToolCallBlock } from './messages.js';

/** The text of a message: its text blocks joined with nothing. */
export function textOf(content: readonly ContentBlock[]): string {
  let text = '';
  for (const block of content) if (block.type === 'text') text += block.text;
  return text;
}

/** True for content that is exactly one text block. */
export function isPlain(content: readonly ContentBlock[]): boolean {
  const [first] = content;
  return content.length === 1 && first?.type === 'text' && Object.keys(first).length === 2;
}

/** True for an empty answer: neither text nor tool calls. */
export function isEmptyAnswer(content: readonly ContentBlock[]): boolean {
  return content.every((block) => block.type === 'thinking' || (block.type === 'text' && block.text.trim() === ''));
}

export function toolCallsOf(content: readonly ContentBlock[]): ToolCallBlock[] {
  return content.filter((block) => block.type === 'tool_call');
}

/** The largest index ≤ `end` that does not split a surrogate pair. */
export function wholeUnits(text: string, end: number): number {
  if (end >= text.length) return text.length;
  const unit = text.charCodeAt(end - 1);
  return end > 0 && unit >= 0xd800 && unit <= 0xdbff ? end - 1 : end;
}

const encoder = new TextEncoder();
const scratch = new Uint8Array(64 * 1024);

/** The length of a text in UTF-8 bytes. */
export function utf8Bytes(text: string): number {
  let bytes = 0;
  for (let at = 0; at < text.length;) {
    const { read, written } = encoder.encodeInto(at === 0 ? text : text.slice(at), scratch);
    at += read;
    bytes += written;
  }
  return bytes;
}
