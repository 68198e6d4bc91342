import type { EventPayload } from '../protocol/events.js';
import { formatDuration } from '../view/durations.js';
import { printableLine } from '../view/printable.js';
import { clipColumns } from './columns.js';
import { clipLines, paintDiff } from './clipped-lines.js';
import { describeSkipped, showOutput } from './message-lines.js';
import type { Page } from './page.js';
import type { Style } from './style.js';

const resultLinesMax = 20;
const diffLinesMax = 40;
const quotedColumnsMax = 160;

/** What came of a call; `unseen` is the part of its result that was not shown as it came. */
export function showToolEnd(page: Page, style: Style, ended: EventPayload<'tool_execution_end'>, unseen: string | undefined): void {
  const { tool_call_id: id, tool_name, result, is_error, skipped, duration_ms, diff, exit_code, artifact_id, counts } = ended;
  const name = printableLine(tool_name);
  const quoted = clipColumns(printableLine(result), quotedColumnsMax);
  if (skipped) return page.line(style.dim(describeSkipped(tool_name, result)));
  const rest = exit_code === undefined ? unseen : unseen?.replace(/\n?\[exit code [^\n]*\]$/, '');
  if (diff !== undefined && diff !== '') showDiff(page, style, diff);
  // The list is on the screen anyway.
  else if (rest !== undefined && rest !== '' && tool_name !== 'todo' && (!is_error || exit_code !== undefined)) {
    showOutput(page, style, id, rest, resultLinesMax);
  }
  if (artifact_id !== undefined) page.line(style.dim(`  [${describeKept(counts)}: berth artifact ${printableLine(artifact_id)}]`));
  const took = duration_ms === null ? '' : ` in ${formatDuration(duration_ms)}`;
  if (!is_error) return page.line(style.dim(`[tool] ${name} done${took}`));
  page.line(style.dim(`[tool] ${name} failed${took}: ${describeEnd(ended) ?? quoted}`));
}

/** How much of an output is kept. */
function describeKept({ bytes, dropped_bytes: dropped = 0 }: Partial<Record<string, number>> = {}): string {
  if (bytes === undefined) return dropped > 0 ? 'its beginning' : 'all of it';
  return dropped > 0 ? `the first ${bytes - dropped} of ${bytes} bytes` : `all ${bytes} bytes`;
}

/** How a command ended. */
function describeEnd({ exit_code, signal }: EventPayload<'tool_execution_end'>): string | undefined {
  if (signal !== undefined) return `ended by ${printableLine(signal)}`;
  return exit_code === undefined ? undefined : `exit code ${exit_code}`;
}

function showDiff(page: Page, style: Style, diff: string): void {
  const { lines, missing } = clipLines(diff, diffLinesMax);
  for (const line of lines) page.line(`  ${paintDiff(line, style)}`);
  if (missing !== '') page.line(style.dim(`  [${missing}]`));
}
