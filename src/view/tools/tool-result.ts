import type { EventPayload } from '../../protocol/events.js';
import { limits } from '../../protocol/limits.js';
import { clipLine } from '../clip-text.js';
import { formatDuration } from '../durations.js';
import { printable, printableLine } from '../printable.js';

/** What came of a tool call. All texts are printable. */
export interface ToolResult {
  name: string;
  outcome: 'done' | 'failed' | 'skipped';
  /** Why it failed, or why it never ran, in one line; empty when it is done. */
  reason: string;
  /** How long it took; empty when it never ran. */
  took: string;
  /** What it changed, as a unified diff; empty when it changed nothing. */
  diff: string;
  /** What is to be shown of its result; empty when the diff or the reason says it all. */
  output: string;
  /** Where a long output can be read, and how much of it. */
  artifact: { id: string; kept: string } | null;
}

/**
 * What a `tool_execution_end` says, for people. `unseen` is the part of the result that was not shown while the call ran, as `ToolOutputs`
 * tells it.
 */
export function describeToolEnd(ended: EventPayload<'tool_execution_end'>, unseen = ended.result): ToolResult {
  const { tool_name, result, is_error, skipped, duration_ms, diff = '', exit_code, artifact_id, counts } = ended;
  const name = printableLine(tool_name);
  const reason = quoteReason(result);
  if (skipped) return { name, outcome: 'skipped', reason, took: '', diff: '', output: '', artifact: null };
  const isShownElsewhere = diff !== '' || tool_name === 'todo' || (is_error && exit_code === undefined);
  return {
    name,
    outcome: is_error ? 'failed' : 'done',
    reason: is_error ? (describeExit(ended) ?? reason) : '',
    took: duration_ms === null ? '' : formatDuration(duration_ms),
    diff: printable(diff),
    output: isShownElsewhere ? '' : printable(exit_code === undefined ? unseen : withoutExitCode(unseen)),
    artifact: artifact_id === undefined ? null : { id: printableLine(artifact_id), kept: describeKept(counts) },
  };
}

/** An output without the line that says how its command ended: the outcome says it already. */
function withoutExitCode(output: string): string {
  const end = output.lastIndexOf('\n');
  return /^\[exit code .*\]$/.test(output.slice(end + 1)) ? output.slice(0, Math.max(0, end)) : output;
}

/** Why a call never ran or came to nothing, as it was told to the model, in one line. */
export function quoteReason(result: string): string {
  return clipLine(result, limits.headlineCharsMax);
}

/** How much of an output is kept. */
function describeKept({ bytes, dropped_bytes: dropped = 0 }: Partial<Record<string, number>> = {}): string {
  if (bytes === undefined) return dropped > 0 ? 'its beginning' : 'all of it';
  return dropped > 0 ? `the first ${bytes - dropped} of ${bytes} bytes` : `all ${bytes} bytes`;
}

function describeExit({ exit_code, signal }: EventPayload<'tool_execution_end'>): string | undefined {
  if (signal !== undefined) return `ended by ${printableLine(signal)}`;
  return exit_code === undefined ? undefined : `exit code ${exit_code}`;
}
