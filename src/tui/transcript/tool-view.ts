import type { Message } from '../../protocol/messages.js';
import { formatDuration } from '../../view/durations.js';
import { printable } from '../../view/printable.js';
import type { OpenCallView } from '../../view/tools/open-calls.js';
import { describeToolEnd } from '../../view/tools/tool-result.js';

/** A tool call with what became of it. All texts are sanitized. */
export interface ToolView {
  readonly state: 'waiting' | 'asking' | 'running' | 'ok' | 'failed' | 'skipped' | 'interrupted';
  readonly name: string;
  readonly headline: string;
  readonly output: string;
  readonly diff?: string;
  /** Why it failed or never ran. */
  readonly reason?: string;
  readonly took?: string;
  /** Where the whole output is, if only a part is shown. */
  readonly artifact?: string;
}

interface CallPart {
  callId: string;
  name: string;
  headline: string;
}

/** A call of an ended answer with its result, or with its state while it has none. */
export function describeToolMessage({ name, headline }: CallPart, result: Message | undefined, call: OpenCallView | undefined): ToolView {
  if (result) return describeResult(name, headline, result);
  // Without a run, what has no result never gets one.
  if (!call) return { state: 'interrupted', name, headline, output: '' };
  return { state: call.state, name, headline: call.headline, output: printable(call.output) };
}

function describeResult(name: string, headline: string, message: Message): ToolView {
  const { duration_ms = null, ...details } = message.details ?? {};
  const { outcome, reason, diff, output, artifact } = describeToolEnd({
    session_id: '',
    run_id: message.run_id,
    turn_id: '',
    tool_call_id: message.tool_call_id ?? '',
    tool_name: message.tool_name ?? name,
    message_id: message.id,
    result: message.text,
    is_error: message.is_error ?? false,
    skipped: message.skipped ?? false,
    duration_ms,
    ...details,
  });
  return {
    state: outcome === 'done' ? 'ok' : outcome,
    name,
    headline,
    output,
    ...(diff === '' ? {} : { diff }),
    ...(reason === '' ? {} : { reason }),
    ...(duration_ms === null ? {} : { took: formatDuration(duration_ms) }),
    ...(artifact === null ? {} : { artifact: artifact.id }),
  };
}
