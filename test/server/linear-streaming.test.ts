import { expect, test } from 'vitest';
import { z } from 'zod';
import { toolText, touchesNothing, type Tool } from '../../src/tools/port.js';
import { zodParameters } from '../../src/tools/zod-parameters.js';
import { createTestEngine } from '../support/engine.js';
import type { RawClient, RawLine } from '../support/raw-client.js';
import { serveEvents } from '../support/serve-events.js';

const word = 'twenty bytes of text';

/** A tool that says what the test says, until it is told to end. */
function createTalker() {
  let started: (say: (text: string) => void) => void;
  let end: () => void;
  const begun = new Promise<(text: string) => void>((resolve) => (started = resolve));
  const ended = new Promise<void>((resolve) => (end = resolve));
  const tool: Tool = {
    name: 'talk',
    description: 'talk',
    parameters: zodParameters(z.object({})),
    readOnly: true,
    resumable: false,
    title: () => 'talk',
    prepare: touchesNothing,
    async run(_args, { output }) {
      started(output);
      await ended;
      return toolText('done');
    },
  };
  return { tool, begun, end: () => end() };
}

interface Streamed {
  /** On the socket of each client, from its subscription to the end of the run. */
  bytes: number[];
  /** Of live lines, in the whole daemon. */
  encodings: number;
}

const isUpdate = ({ type }: RawLine): boolean => type === 'message_update' || type === 'tool_execution_update';

/** A run whose model or tool says so many words, one by one: each is on every screen before the next one is said. */
async function stream(speaker: 'model' | 'tool', words: number, screens: number): Promise<Streamed> {
  const talker = createTalker();
  await using berth = createTestEngine({ tools: [talker.tool] });
  await using served = await serveEvents(berth);
  const session = berth.session();
  const clients: RawClient[] = [];
  for (let i = 0; i < screens; i++) clients.push(await served.subscribe({ session_id: session }));
  const before = clients.map(({ socket }) => socket.bytesRead);
  berth.prompt(session);
  const call = await berth.model.next();
  if (speaker === 'tool') call.call('talk', {}).end();
  const say = speaker === 'tool' ? await talker.begun : (text: string): void => void call.say(text);
  for (let i = 0; i < words; i++) {
    say(word);
    await Promise.all(clients.map((client) => client.until((line) => isUpdate(line) && line.payload.offset === i * word.length)));
  }
  if (speaker === 'model') call.end();
  else {
    talker.end();
    (await berth.model.next()).say(word).end();
  }
  await Promise.all(clients.map((client) => client.until(({ type }) => type === 'agent_end')));
  return {
    bytes: clients.map(({ socket }, i) => socket.bytesRead - before[i]!),
    encodings: Math.max(...clients.flatMap(({ lines }) => lines.map(({ id }) => Number(/^live-(\d+)$/.exec(id)?.[1] ?? 0)))),
  };
}

for (const speaker of ['model', 'tool'] as const) {
  test(`twice the text of a ${speaker} is twice the bytes for a client, and further clients cost no further encoding`, async () => {
    const [some, more, watched] = [await stream(speaker, 150, 1), await stream(speaker, 300, 1), await stream(speaker, 300, 5)];
    // Beside the words, the numbers in a line get longer by a digit.
    expect(more.bytes[0]).toBeGreaterThan(1.8 * some.bytes[0]!);
    expect(more.bytes[0]).toBeLessThan(2.05 * some.bytes[0]!);
    expect(new Set(watched.bytes).size).toBe(1);
    expect(watched.bytes[0]).toBeLessThan(1.01 * more.bytes[0]!);
    expect(watched.encodings).toBe(more.encodings);
    expect(more.encodings - some.encodings).toBe(150);
  });
}
