import type { EventPayload } from '../../protocol/events.js';
import { describeToolEnd, type ToolResult } from '../../view/tools/tool-result.js';
import { clipLines, paintDiff } from './clipped-lines.js';
import { clipColumns } from '../terminal/columns.js';
import { describeSkipped, showOutput } from './message-lines.js';
import type { LineWriter } from '../terminal/line-writer.js';
import type { Style } from '../terminal/style.js';

const layout = {
  resultLinesMax: 20,
  diffLinesMax: 40,
  reasonColumnsMax: 160,
} as const;

/** Prints the result of a tool call; `unseen` is the output that was not streamed. */
export function showToolEnd(page: LineWriter, style: Style, ended: EventPayload<'tool_execution_end'>, unseen: string): void {
  const result = describeToolEnd(ended, unseen);
  const { outcome, diff, output, artifact } = result;
  if (outcome === 'skipped') return page.line(style.dim(describeToolOutcome(result)));
  if (diff !== '') showDiff(page, style, diff);
  if (output !== '') showOutput(page, style, ended.tool_call_id, output, layout.resultLinesMax);
  if (artifact) page.line(style.dim(`  [${artifact.kept}: berth artifact ${artifact.id}]`));
  page.line(style.dim(describeToolOutcome(result)));
}

/** What became of a tool call, in one line. */
export function describeToolOutcome({ name, outcome, reason, took }: ToolResult): string {
  if (outcome === 'skipped') return describeSkipped(name, reason);
  const after = took === '' ? '' : ` in ${took}`;
  const why = outcome === 'failed' ? `: ${clipColumns(reason, layout.reasonColumnsMax)}` : '';
  return `[tool] ${name} ${outcome}${after}${why}`;
}

function showDiff(page: LineWriter, style: Style, diff: string): void {
  const { lines, missing } = clipLines(diff, layout.diffLinesMax);
  for (const line of lines) page.line(`  ${paintDiff(line, style)}`);
  if (missing !== '') page.line(style.dim(`  [${missing}]`));
}
