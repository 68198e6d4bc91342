import { expect, test } from 'vitest';
import type { ModelRequest } from '../../src/providers/port.js';
import { createAskUserTool } from '../../src/tools/talk/ask-user.js';
import { createEchoTool } from '../../src/providers/offline/echo.js';
import { createClockTool } from '../../src/providers/offline/clock.js';
import type { Tool } from '../../src/tools/port.js';
import { createTestEngine, type TestEngine } from '../support/engine.js';
import { sized } from '../support/fault-sizes.js';
import { createGate } from '../support/gate-tool.js';

const rounds = sized({ short: 40, long: 100, full: 500 });

/** What the strictest of providers would answer with 400. */
function complaint({ messages }: ModelRequest): string | undefined {
  let open: string[] = [];
  if (messages[0]?.role !== 'user') return `the first message is of ${messages[0]?.role}`;
  for (const { role, toolCallId, content } of messages) {
    if (role === 'tool_result') {
      if (toolCallId === undefined || !open.includes(toolCallId)) return `a result of ${toolCallId} without its call`;
      open = open.filter((id) => id !== toolCallId);
      continue;
    }
    if (open.length > 0) return `no result for ${open.join(', ')}`;
    if (content.length === 0) return `an empty message of ${role}`;
    open = content.flatMap((block) => (block.type === 'tool_call' ? [block.id] : []));
  }
  if (open.length > 0) return `no result for ${open.join(', ')}`;
  return messages.at(-1)?.role === 'assistant' ? 'the last word is the model’s own' : undefined;
}

function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Tools of every kind: quick, read-only, never-ending, asking, needing a yes, unknown. */
const calls: [string, object][] = [
  ['echo', { text: 'x' }],
  ['clock', {}],
  ['gate', { key: 'k' }],
  ['ask_user', { method: 'confirm', title: 'Sure?' }],
  ['echo', { text: 'x', confirm: true }],
  ['nonesuch', {}],
];

test(
  'whatever is aborted, killed or steered, the model is always given a history that a strict provider accepts',
  async () => {
    const tools = (): Tool[] => [createEchoTool(), createClockTool(), createAskUserTool(), createGate().tool] as Tool[];
    const pick = createRandom(sized({ short: 1, long: 1, full: 2 }));
    const complaints: string[] = [];
    let asked = 0;

    function answer(berth: TestEngine): void {
      berth.model.answerWith((call) => {
        asked++;
        const wrong = complaint(call.request);
        if (wrong !== undefined) complaints.push(wrong);
        if (pick(3) > 0) call.say('some words');
        for (let i = pick(4); i > 0; i--) {
          const [name, args] = calls[pick(calls.length)]!;
          // The same few ids again and again, as careless servers make them.
          call.call(name, args, `call_${i}`);
        }
        const ending = pick(12);
        if (ending === 0) call.fail('no');
        else if (ending > 1) call.end();
      });
    }

    let berth = createTestEngine({ tools: tools() });
    answer(berth);
    const session = berth.session();
    let cuts = 0;
    for (let round = 0; round < rounds; round++) {
      if (!berth.store.runs.active(session)) expect(berth.submit(session, 'prompt', `prompt ${round}`).ok).toBe(true);
      for (let turns = pick(12); turns > 0; turns--) {
        await new Promise((resolve) => setImmediate(resolve));
        const [request] = berth.store.requests.open(session);
        if (request && pick(2) === 0)
          berth.answer(request.request_id, { result: request.method === 'confirm' ? true : pick(2) ? 'allow_once' : 'deny' });
        if (pick(4) === 0) berth.submit(session, 'steer', `steer ${round}`);
      }
      if (!berth.store.runs.active(session)) continue;
      cuts++;
      if (pick(3) > 0) {
        berth.abort(session);
        await berth.idle(session);
      } else {
        const next = berth.crash({ tools: tools() });
        await berth[Symbol.asyncDispose]();
        berth = next;
        answer(berth);
        berth.engine.recover();
      }
    }
    if (berth.store.runs.active(session)) berth.abort(session);
    await berth.idle(session);
    expect(complaints).toEqual([]);
    expect(cuts).toBeGreaterThan(0.4 * rounds);
    expect(asked).toBeGreaterThan(0.8 * rounds);
    const starts = berth.told(session).filter((words) => words === 'agent_start');
    const ends = berth.told(session).filter((words) => words.startsWith('agent_end'));
    expect(ends).toHaveLength(starts.length);
    await berth[Symbol.asyncDispose]();
  },
  sized({ short: 90_000, long: 90_000, full: 300_000 }),
);
