import type { Message } from '../../protocol/messages.js';
import { messageNotes, messageParts, type MessageNote, type MessagePart } from '../../view/message-text.js';
import { clipColumns } from '../terminal/columns.js';
import type { LineWriter } from '../terminal/line-writer.js';
import type { Style } from '../terminal/style.js';

const layout = {
  headlineColumnsMax: 100,
  skippedColumnsMax: 160,
} as const;

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

function showPart(page: LineWriter, style: Style, { id, role }: Message, part: MessagePart, linesMax: number): void {
  switch (part.kind) {
    case 'text':
      return page.flow(`${id} text`, part.text, role === 'user' ? { indent: '> ', paint: style.bold } : {});
    case 'thinking':
      return page.flow(`${id} thinking`, part.text, { paint: style.dim });
    case 'tool_call':
      return page.line(style.dim(`[tool] ${clipHeadline(part.headline)}`));
    case 'tool_result':
      if (part.outcome === 'skipped') return page.line(style.dim(describeSkipped(part.name, part.reason)));
      if (part.outcome === 'failed') page.line(style.dim(`[tool] ${part.name} failed`));
      return showOutput(page, style, id, part.text, linesMax);
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

/** Describes a tool call that never ran, and the reason: it was denied, or replaced. */
export function describeSkipped(name: string, reason: string): string {
  return `[tool] ${name} was skipped: ${clipColumns(reason, layout.skippedColumnsMax)}`;
}

/** Prints the output of a tool, indented and truncated. */
export function showOutput(page: LineWriter, style: Style, id: string, text: string, linesMax: number): void {
  const lines = text.split('\n');
  const shown = lines.length > linesMax + 1 ? lines.slice(0, linesMax) : lines;
  page.flow(`${id} output`, shown.join('\n'), { indent: '  ' });
  page.endLine();
  if (shown !== lines) page.line(style.dim(`  [${lines.length - shown.length} more lines; berth log has them]`));
}

/** Truncates the headline of a tool call. */
export function clipHeadline(headline: string): string {
  return clipColumns(headline, layout.headlineColumnsMax);
}
