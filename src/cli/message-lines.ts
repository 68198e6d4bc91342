import { toolHeadline } from '../view/tool-headline.js';
import type { Message } from '../protocol/messages.js';
import { printableLine } from '../view/printable.js';
import { clipColumns } from './columns.js';
import type { Page } from './page.js';
import type { Style } from './style.js';

const argumentColumnsMax = 100;
const skippedColumnsMax = 160;

/** Puts an ended message on the page. `linesMax` cuts the results of tools. */
export function showMessage(page: Page, style: Style, message: Message, linesMax = Infinity): void {
  if (message.role === 'user') return showUserMessage(page, style, message);
  if (message.role === 'tool_result') return showToolResult(page, style, message, linesMax);
  if (message.role === 'compaction') return showSummary(page, style, message);
  for (const block of message.content) {
    if (block.type === 'text') page.flow(`${message.id} text`, block.text);
    if (block.type === 'thinking') page.flow(`${message.id} thinking`, block.thinking, { paint: style.dim });
    if (block.type === 'tool_call') page.line(style.dim(`[tool] ${describeCall(block.name, block.arguments)}`));
  }
  showEnding(page, style, message, false);
  if (message.stop_reason === 'aborted' || message.stop_reason === 'error') page.line(style.dim('[the answer breaks off here]'));
}

export function showUserMessage(page: Page, style: Style, message: Message): void {
  page.gap();
  page.flow(message.id, message.text, { indent: '> ', paint: style.bold });
  const images = message.content.filter(({ type }) => type === 'image').length;
  if (images > 0) page.line(style.dim(`[${images} image${images === 1 ? '' : 's'}]`));
  if (message.truncated) page.line(style.dim('[only the beginning is shown; berth log has it all]'));
  page.endLine();
}

/** A summary, and what it stands for. */
export function showSummary(page: Page, style: Style, message: Message): void {
  const { tokens_before: before, tokens_after: after } = message.compaction ?? { tokens_before: 0, tokens_after: 0 };
  page.line(style.dim(`[summary] stands for what came before, for the model: about ${before} tokens are now ${after}`));
  page.flow(`${message.id} summary`, message.text, { indent: '  ', paint: style.dim });
  page.endLine();
}

/** Says what is special about the end of an answer; `heard` when all of it was shown as it came. */
export function showEnding(page: Page, style: Style, { stop_reason, truncated }: Message, heard: boolean): void {
  page.endLine();
  if (truncated && !heard) page.line(style.dim('[only the beginning is shown; berth log has it all]'));
  if (stop_reason === 'length') page.line(style.dim('[cut: the model reached its length limit]'));
}

function showToolResult(page: Page, style: Style, message: Message, linesMax: number): void {
  const name = message.tool_name ?? 'tool';
  if (message.skipped) return page.line(style.dim(describeSkipped(name, message.text)));
  if (message.is_error) page.line(style.dim(`[tool] ${printableLine(name)} failed`));
  showOutput(page, style, message.id, message.text, linesMax);
}

/** A call that never ran, and why: a person or a rule denied it, or something else took its place. */
export function describeSkipped(name: string, why: string): string {
  return `[tool] ${printableLine(name)} was skipped: ${clipColumns(printableLine(why), skippedColumnsMax)}`;
}

/** What a tool said, indented. */
export function showOutput(page: Page, style: Style, id: string, text: string, linesMax: number): void {
  const lines = text.split('\n');
  const shown = lines.length > linesMax + 1 ? lines.slice(0, linesMax) : lines;
  page.flow(`${id} output`, shown.join('\n'), { indent: '  ' });
  page.endLine();
  if (shown !== lines) page.line(style.dim(`  [${lines.length - shown.length} more lines; berth log has them]`));
}

/** A call that has no title of its own. */
export function describeCall(name: string, args: Record<string, unknown>): string {
  return clipColumns(printableLine(toolHeadline(name, args)), argumentColumnsMax);
}
