import type { EventPayload } from '../protocol/events.js';
import { toDuration } from './brief.js';
import { clipColumns } from './columns.js';
import { clipLines, paintDiff } from './clipped-lines.js';
import { showOutput } from './message-lines.js';
import type { Page } from './page.js';
import { printableLine } from './printable.js';
import type { Style } from './style.js';

const resultLinesMax = 20;
const diffLinesMax = 40;
const quotedColumnsMax = 80;

/** What came of a call; `streamed` when its output was shown as it came. */
export function showToolEnd(page: Page, style: Style, ended: EventPayload<'tool_execution_end'>, streamed: boolean): void {
  const { tool_call_id: id, tool_name, result, is_error, skipped, duration_ms, diff, exit_code, signal, artifact_id } = ended;
  const name = printableLine(tool_name);
  const quoted = clipColumns(printableLine(result), quotedColumnsMax);
  if (skipped) return page.line(style.dim(`[tool] ${name} was skipped: ${quoted}`));
  const ran = exit_code !== undefined || signal !== undefined;
  if (diff !== undefined && diff !== '') showDiff(page, style, diff);
  else if (!streamed && (ran || !is_error)) showOutput(page, style, id, result, resultLinesMax);
  if (artifact_id !== undefined) page.line(style.dim(`  [all of it: berth artifact ${printableLine(artifact_id)}]`));
  const took = duration_ms === null ? '' : ` in ${toDuration(duration_ms)}`;
  const how = signal !== undefined ? `: ended by ${printableLine(signal)}` : exit_code === undefined ? '' : `: exit code ${exit_code}`;
  if (!is_error) return page.line(style.dim(`[tool] ${name} done${took}${exit_code === 0 ? '' : how}`));
  page.line(style.dim(`[tool] ${name} failed${took}${how === '' ? `: ${quoted}` : how}`));
}

function showDiff(page: Page, style: Style, diff: string): void {
  const { lines, missing } = clipLines(diff, diffLinesMax);
  for (const line of lines) page.line(`  ${paintDiff(line, style)}`);
  if (missing !== '') page.line(style.dim(`  [${missing}]`));
}
