import { printableLine } from '../printable.js';
import { startedHeadline, toolHeadline } from './tool-headline.js';
import type { SessionView } from '../session-view.js';

/** A tool call of the turn in progress that has no result yet. */
export interface OpenCallView {
  id: string;
  name: string;
  /** What it does, in one printable line. */
  headline: string;
  state: 'waiting' | 'asking' | 'running';
  /** The request that a person has to answer before it goes on. */
  requestId: string | null;
  /** The end of what it printed, as it was sent, and where that begins in the whole output. */
  output: string;
  outputOffset: number;
}

/** All open calls of a session in the order of the answer that made them: those that run, that ask a person and that wait for their turn. */
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
