import { z } from 'zod';
import { textOf } from '../../src/protocol/content.js';
import type { ModelDelta, ModelRequest } from '../../src/providers/port.js';
import { toolText, type Tool } from '../../src/tools/port.js';
import { zodParameters } from '../../src/tools/zod-parameters.js';

const peekArgs = z.object({ at: z.string() });

/** Reads only, and yet wants a yes: several of them ask at the same time. */
export const peekTool: Tool<z.infer<typeof peekArgs>> = {
  name: 'peek',
  description: 'Looks at something that a person may not want to show.',
  parameters: zodParameters(peekArgs),
  readOnly: true,
  resumable: true,
  title: ({ at }) => `Peek at ${at}`,
  approval: ({ at }) => ({ title: 'Look at this?', message: at }),
  run: ({ at }) => Promise.resolve(toolText(`saw ${at}`)),
};

const echo = (text: string, confirm: boolean): [string, object] => ['echo', { text, ...(confirm ? { confirm } : {}) }];
const peek = (at: string): [string, object] => ['peek', { at }];
const clock: [string, object] = ['clock', {}];

/** What the offline guide never does: calls that wait for a yes behind others, and several at once. */
const scripts: Record<string, [string, object][]> = {
  'act, then ask': [echo('a', false), echo('b', true), echo('c', false)],
  'ask twice': [echo('a', true), echo('b', true)],
  'peek around': [peek('left'), clock, peek('right'), echo('a', false)],
  'look, ask a person, act': [clock, ['ask_user', { method: 'confirm', title: 'Go on?' }], echo('a', false)],
};
export const ownPhrases = Object.keys(scripts);

/** Undefined when the guide shall answer. */
export function ownReply({ messages }: ModelRequest): AsyncIterable<ModelDelta> | undefined {
  const last = messages.at(-1);
  const calls = last?.role === 'user' ? scripts[textOf(last.content)] : undefined;
  return calls && streamCalls(calls, messages.length);
}

async function* streamCalls(calls: [string, object][], place: number): AsyncGenerator<ModelDelta, void> {
  yield { type: 'begin' };
  for (const [block, [name, args]] of calls.entries()) {
    yield { type: 'tool_call', block, id: `own_${place}_${block}`, name };
    yield { type: 'tool_arguments', block, json: JSON.stringify(args) };
  }
  yield { type: 'end', stopReason: 'tool_use', usage: null };
}
