import type { Message } from '../../protocol/messages.js';
import { messageNotes, messageParts, type MessageNote, type MessagePart } from '../../view/message-text.js';
import { clipColumns } from '../terminal/columns.js';
import type { LineWriter } from '../terminal/line-writer.js';
import type { Style } from '../terminal/style.js';
import { showToolMessage } from './tool-lines.js';

const layout = { headlineColumnsMax: 100 } as const;

/** Prints an ended message. `linesMax` truncates tool results. */
export function showMessage(page: LineWriter, style: Style, message: Message, linesMax = Infinity): void {
  if (message.role === 'user') page.gap();
  for (const part of messageParts(message)) showPart(page, style, message, part, linesMax);
  page.endLine();
}

/** Prints notes about the end of an answer; `streamed` when all of its text was shown live. */
export function showEnding(page: LineWriter, style: Style, message: Message, streamed: boolean): void {
  page.endLine();
  // The end of the run says why an answer was broken off.
  for (const note of messageNotes(message, { streamed })) if (note.about !== 'broken_off') showNote(page, style, note);
}

function showPart(page: LineWriter, style: Style, message: Message, part: MessagePart, linesMax: number): void {
  const { id, role } = message;
  switch (part.kind) {
    case 'text':
      return page.flow(`${id} text`, part.text, role === 'user' ? { indent: '> ', paint: style.bold } : {});
    case 'thinking':
      return page.flow(`${id} thinking`, part.text, { paint: style.dim });
    case 'tool_call':
      return page.line(style.dim(`[tool] ${clipHeadline(part.headline)}`));
    case 'tool_result':
      return showToolMessage(page, style, message, linesMax);
    case 'summary':
      page.line(style.dim(`[summary] ${part.headline}`));
      return page.flow(`${id} summary`, part.text, { indent: '  ', paint: style.dim });
    case 'note':
      return showNote(page, style, part);
  }
}

function showNote(page: LineWriter, style: Style, { about, text }: MessageNote): void {
  page.line(style.dim(`[${text}${about === 'truncated' ? '; berth log has it all' : ''}]`));
}

/** Truncates the headline of a tool call. */
export function clipHeadline(headline: string): string {
  return clipColumns(headline, layout.headlineColumnsMax);
}
