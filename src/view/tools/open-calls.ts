import { printableLine } from '../printable.js';
import { startedHeadline, toolHeadline } from './tool-headline.js';
import type { SessionView } from '../session-view.js';

/** A tool call of the turn in progress that has no result yet. */
export interface OpenCallView {
  id: string;
  name: string;
  /** The call in one sanitized line. */
  headline: string;
  state: 'waiting' | 'asking' | 'running';
  /** The open request that blocks the call. */
  requestId: string | null;
  /** The tail of its output, not sanitized, and the offset of the tail. */
  output: string;
  outputOffset: number;
}

/** All open tool calls of a session, in the order of the answer: running, waiting for a person, and waiting for their turn. */
export function openCalls({ state: { run, requests }, tools }: SessionView): OpenCallView[] {
  const calls = [...(run?.calls ?? [])].sort((a, b) => a.place - b.place);
  return calls.map(({ id, name, args, started, title }) => {
    const running = tools.find((tool) => tool.id === id);
    const requestId = requests.find(({ tool_call_id }) => tool_call_id === id)?.request_id ?? null;
    return {
      id,
      name: printableLine(name),
      headline: title === null ? toolHeadline(name, args) : startedHeadline({ title, tool_name: name, args }),
      state: requestId !== null ? 'asking' : started ? 'running' : 'waiting',
      requestId,
      output: running?.output ?? '',
      outputOffset: running?.offset ?? 0,
    };
  });
}
