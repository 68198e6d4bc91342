import type { Message } from '../../protocol/messages.js';
import type { MessagePart } from '../message-text.js';
import { printable } from '../printable.js';
import type { OpenCallView } from './open-calls.js';
import { artifactText, describeResultMessage } from './tool-result.js';

/** A tool call with what became of it. All texts are sanitized. */
export interface ToolView {
  readonly state: 'waiting' | 'asking' | 'running' | 'ok' | 'failed' | 'skipped' | 'interrupted';
  readonly name: string;
  /** The call in one line: `$ command`, or the tool and its object. */
  readonly headline: string;
  readonly output: string;
  readonly diff?: string;
  /** Why it failed or never ran. */
  readonly reason?: string;
  readonly took?: string;
  /** Where more of the output is than is shown, and how much. */
  readonly artifact?: string;
}

/** A call of an ended answer with its result, or with its state while it has none. */
export function describeToolMessage(
  { name, headline }: Pick<Extract<MessagePart, { kind: 'tool_call' }>, 'name' | 'headline'>,
  message: Message | undefined,
  call: OpenCallView | undefined,
): ToolView {
  if (message) {
    const { outcome, output, diff, reason, took, artifact } = describeResultMessage(message);
    return {
      state: outcome === 'done' ? 'ok' : outcome,
      name,
      headline,
      output,
      ...(diff === '' ? {} : { diff }),
      ...(reason === '' ? {} : { reason }),
      ...(took === '' ? {} : { took }),
      ...(artifact === null ? {} : { artifact: artifactText(artifact) }),
    };
  }
  // Without a run, what has no result never gets one.
  if (!call) return { state: 'interrupted', name, headline, output: '' };
  return { state: call.state, name, headline: call.headline, output: printable(call.output) };
}
