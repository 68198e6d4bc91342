import type { Measurement } from './figures.js';
import { call, commandLine, newSession, openLines, type LineClient } from './line-client.js';
import { alternate, median } from './numbers.js';
import { startBenchDaemon, startFloor } from './processes.js';

/** Few enough that the queue stays as short as people's queues are. */
const inputsPerBlock = 10;
const blocksPerRound = 10;
const text = 'and then look at the tests of the parser once more';

let inputs = 0;

async function submitBlock(client: LineClient, sessionId: string): Promise<number[]> {
  const samples: number[] = [];
  for (let i = 0; i < inputsPerBlock; i++) {
    const line = commandLine('follow_up', { session_id: sessionId, text, input_id: `bench-${++inputs}` });
    const from = performance.now();
    const reply = await client.ask(line);
    samples.push(1000 * (performance.now() - from));
    if (!reply.includes('"accepted"')) throw new Error(`an input was refused: ${reply}`);
  }
  return samples;
}

export const acknowledgedInput: Measurement = {
  name: 'acknowledged input',
  async measure({ quick }) {
    // A run that says next to nothing, for ever: whatever comes meanwhile waits.
    await using daemon = await startBenchDaemon({ wps: 0.1 });
    await using floor = await startFloor('commit-server');
    using client = await openLines(daemon.paths.socket);
    using bare = await openLines(floor.socket);
    const sessionId = await newSession(client);
    await call(client, 'prompt', { session_id: sessionId, text: 'stream 1000 words', wait: false });

    async function round(block: () => Promise<number[]>): Promise<number> {
      const samples: number[] = [];
      for (let i = 0; i < blocksPerRound; i++) samples.push(...(await block()));
      return median(samples);
    }
    const submitBare = (): Promise<number> => round(() => submitBlock(bare, sessionId));
    const submit = (): Promise<number> =>
      round(async () => {
        const samples = await submitBlock(client, sessionId);
        await call(client, 'clear_queue', { session_id: sessionId });
        return samples;
      });
    await submitBare();
    await submit();
    const pair = await alternate(quick ? 9 : 21, submitBare, submit);
    return [{ name: 'acknowledged input p50', unit: 'µs', ...pair, must: 1.8, should: 1.3 }];
  },
};
