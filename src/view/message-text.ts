import type { ContentBlock, Message } from '../protocol/messages.js';
import { printable, printableLine } from './printable.js';
import { toolHeadline } from './tools/tool-headline.js';
import { quoteReason } from './tools/tool-result.js';

/** A note about a message beside its text. */
export interface MessageNote {
  kind: 'note';
  about: 'images' | 'truncated' | 'length_limit' | 'broken_off';
  text: string;
}

/** A part of an ended message for display. All texts are sanitized. */
export type MessagePart =
  | { kind: 'text' | 'thinking'; text: string }
  | { kind: 'tool_call'; callId: string; name: string; headline: string }
  | { kind: 'tool_result'; callId: string; name: string; outcome: 'done' | 'failed'; text: string }
  | { kind: 'tool_result'; callId: string; name: string; outcome: 'skipped'; reason: string }
  | { kind: 'summary'; headline: string; text: string }
  | MessageNote;

/** The parts of an ended message, in display order. */
export function messageParts(message: Message): MessagePart[] {
  if (message.role === 'tool_result') return [toolResultPart(message)];
  if (message.role === 'compaction') return [{ kind: 'summary', headline: summaryHeadline(message), text: printable(message.text) }];
  return [...message.content.flatMap(blockParts), ...messageNotes(message)];
}

/**
 * Notes to show after the text of a message. For a `streamed` answer, all text was shown, and the end of its run says why the answer was broken
 * off.
 */
export function messageNotes({ content, truncated, stop_reason }: Message, { streamed = false } = {}): MessageNote[] {
  const images = content.filter(({ type }) => type === 'image').length;
  const brokenOff = stop_reason === 'aborted' || stop_reason === 'error';
  return [
    ...(images === 0 ? [] : [note('images', `${images} image${images === 1 ? '' : 's'}`)]),
    ...(truncated && !streamed ? [note('truncated', 'only the beginning is shown')] : []),
    ...(stop_reason === 'length' ? [note('length_limit', 'cut: the model reached its length limit')] : []),
    ...(brokenOff && !streamed ? [note('broken_off', 'the answer breaks off here')] : []),
  ];
}

/** The headline of a compaction summary. */
function summaryHeadline({ compaction }: Message): string {
  const { tokens_before: before, tokens_after: after } = compaction ?? { tokens_before: 0, tokens_after: 0 };
  return `stands for what came before, for the model: about ${before} tokens are now ${after}`;
}

function blockParts(block: ContentBlock): MessagePart[] {
  switch (block.type) {
    case 'text':
      return [{ kind: 'text', text: printable(block.text) }];
    case 'thinking':
      return [{ kind: 'thinking', text: printable(block.thinking) }];
    case 'tool_call':
      return [
        { kind: 'tool_call', callId: block.id, name: printableLine(block.name), headline: toolHeadline(block.name, block.arguments) },
      ];
    case 'image':
      return [];
  }
}

function toolResultPart({ tool_call_id: callId = '', tool_name = 'tool', text, is_error, skipped }: Message): MessagePart {
  const name = printableLine(tool_name);
  if (skipped) return { kind: 'tool_result', callId, name, outcome: 'skipped', reason: quoteReason(text) };
  return { kind: 'tool_result', callId, name, outcome: is_error ? 'failed' : 'done', text: printable(text) };
}

function note(about: MessageNote['about'], text: string): MessageNote {
  return { kind: 'note', about, text };
}
