import type { Measurement } from './figures.js';
import { commandLine, openLines, type LineClient } from './line-client.js';
import { median, quantile, type Pair } from './numbers.js';
import { keepApart } from './placement.js';
import { startBenchDaemon, startFloor } from './processes.js';

const tripsPerRound = 1_000;
/** Until the compiler has seen enough of both. */
const warmUpRounds = 4;

async function pingRound(client: LineClient): Promise<number[]> {
  const samples: number[] = [];
  for (let i = 0; i < tripsPerRound; i++) {
    const line = commandLine('ping');
    const from = performance.now();
    await client.ask(line);
    samples.push(1000 * (performance.now() - from));
  }
  return samples;
}

export const trivialCommand: Measurement = {
  name: 'trivial command',
  async measure({ quick }) {
    await using daemon = await startBenchDaemon();
    await using floor = await startFloor('echo-server');
    using bare = await openLines(floor.socket);
    using client = await openLines(daemon.paths.socket);
    const rounds: { bare: number[]; ours: number[] }[] = [];
    await keepApart([daemon.pid(), floor.pid], async () => {
      for (let round = -warmUpRounds; round < (quick ? 9 : 21); round++) {
        const samples = { bare: await pingRound(bare), ours: await pingRound(client) };
        if (round >= 0) rounds.push(samples);
      }
    });
    const of = (part: number): Pair => ({
      floor: median(rounds.map((samples) => quantile(samples.bare, part))),
      value: median(rounds.map((samples) => quantile(samples.ours, part))),
    });
    return [
      { name: 'ping p50', unit: 'µs', ...of(0.5), must: 1.5, should: 1.15 },
      { name: 'ping p99', unit: 'µs', ...of(0.99), must: 2, should: 1.3 },
    ];
  },
};
