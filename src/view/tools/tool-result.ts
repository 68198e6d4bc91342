import type { EventPayload } from '../../protocol/events.js';
import type { Message } from '../../protocol/messages.js';
import { limits } from '../../protocol/limits.js';
import { clipLine } from '../clip-text.js';
import { formatDuration } from '../durations.js';
import { printable, printableLine } from '../printable.js';

/** The result of a tool call for display. All texts are sanitized. */
export interface ToolResult {
  name: string;
  outcome: 'done' | 'failed' | 'skipped';
  /** Why the call failed or never ran, in one line; empty when it succeeded. */
  reason: string;
  /** The duration; empty when the call never ran. */
  took: string;
  /** The change as a unified diff; empty without one. */
  diff: string;
  /** The output to show; empty when the diff or the reason says it all. */
  output: string;
  /** The artifact of a truncated output, and how much of the output it has. */
  artifact: { id: string; kept: string } | null;
}

/** Describes a `tool_execution_end`. `unseen` is the part of the result that was not streamed, from `ToolOutputs.end`. */
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

/** Describes the result of a call that ended earlier, by its tool_result message: as the event of its end did, if the details were stored. */
export function describeResultMessage(message: Message): ToolResult {
  const { run_id, tool_call_id = '', tool_name = 'tool', id, text, is_error = false, skipped = false } = message;
  const { duration_ms = null, title: _started, ...details } = message.details ?? {};
  return describeToolEnd({
    ...{ session_id: '', run_id, turn_id: '', tool_call_id, tool_name, message_id: id },
    ...{ result: text, is_error, skipped, duration_ms },
    ...details,
  });
}

/** Where more of an output is, and how much of it. */
export function artifactText({ id, kept }: NonNullable<ToolResult['artifact']>): string {
  return `${kept}: berth artifact ${id}`;
}

/** Removes the `[exit code …]` line, which the outcome repeats. */
function withoutExitCode(output: string): string {
  const end = output.lastIndexOf('\n');
  return /^\[exit code .*\]$/.test(output.slice(end + 1)) ? output.slice(0, Math.max(0, end)) : output;
}

/** The reason of a skipped or failed call, in one sanitized line. */
export function quoteReason(result: string): string {
  return clipLine(result, limits.headlineCharsMax);
}

/** Describes how much of an output is in the artifact. */
function describeKept({ bytes, dropped_bytes: dropped = 0 }: Partial<Record<string, number>> = {}): string {
  if (bytes === undefined) return dropped > 0 ? 'its beginning' : 'all of it';
  return dropped > 0 ? `the first ${bytes - dropped} of ${bytes} bytes` : `all ${bytes} bytes`;
}

function describeExit({ exit_code, signal }: EventPayload<'tool_execution_end'>): string | undefined {
  if (signal !== undefined) return `ended by ${printableLine(signal)}`;
  return exit_code === undefined ? undefined : `exit code ${exit_code}`;
}
