import type { EventPayload } from '../../protocol/events.js';
import type { Message } from '../../protocol/messages.js';
import { printable } from '../../view/printable.js';
import { artifactText, describeResultMessage, describeToolEnd, type ToolResult } from '../../view/tools/tool-result.js';
import { clipLines, paintDiff } from './clipped-lines.js';
import { clipColumns } from '../terminal/columns.js';
import type { LineWriter } from '../terminal/line-writer.js';
import type { Style } from '../terminal/style.js';

const layout = {
  resultLinesMax: 20,
  diffLinesMax: 40,
  reasonColumnsMax: 160,
} as const;

/** Prints the result of a tool call; `unseen` is the output that was not streamed. */
export function showToolEnd(page: LineWriter, style: Style, ended: EventPayload<'tool_execution_end'>, unseen: string): void {
  showResult(page, style, ended.tool_call_id, describeToolEnd(ended, unseen), layout.resultLinesMax);
}

/** Prints the result of a call that ended earlier, in the same words; with `Infinity`, all of it. */
export function showToolMessage(page: LineWriter, style: Style, message: Message, linesMax: number): void {
  const result = describeResultMessage(message);
  const { outcome, diff, output, reason } = result;
  const text = printable(message.text);
  // The reason is one line of bounded length.
  const isCut = outcome === 'failed' && diff === '' && output === '' && text.trim() !== reason;
  showResult(page, style, message.id, isCut ? { ...result, output: text } : result, linesMax);
}

function showResult(page: LineWriter, style: Style, id: string, result: ToolResult, linesMax: number): void {
  const { outcome, diff, output, artifact } = result;
  if (outcome !== 'skipped') {
    if (diff !== '') showDiff(page, style, diff, linesMax);
    if (output !== '') showOutput(page, style, id, output, linesMax);
    if (artifact) page.line(style.dim(`  [${artifactText(artifact)}]`));
  }
  page.line(style.dim(describeToolOutcome(result)));
}

/** What became of a tool call, in one line. */
export function describeToolOutcome({ name, outcome, reason, took }: ToolResult): string {
  if (outcome === 'skipped') return `[tool] ${name} was skipped: ${clipColumns(reason, layout.reasonColumnsMax)}`;
  const after = took === '' ? '' : ` in ${took}`;
  const why = outcome === 'failed' ? `: ${clipColumns(reason, layout.reasonColumnsMax)}` : '';
  return `[tool] ${name} ${outcome}${after}${why}`;
}

function showDiff(page: LineWriter, style: Style, diff: string, linesMax: number): void {
  const { lines, missing } = clipLines(diff, linesMax === Infinity ? Infinity : layout.diffLinesMax);
  for (const line of lines) page.line(`  ${paintDiff(line, style)}`);
  if (missing !== '') page.line(style.dim(`  [${missing}]`));
}

/** Prints the output of a tool, indented and truncated. */
function showOutput(page: LineWriter, style: Style, id: string, text: string, linesMax: number): void {
  const lines = text.split('\n');
  const shown = lines.length > linesMax + 1 ? lines.slice(0, linesMax) : lines;
  page.flow(`${id} output`, shown.join('\n'), { indent: '  ' });
  page.endLine();
  if (shown !== lines) page.line(style.dim(`  [${lines.length - shown.length} more lines; berth log has them]`));
}
