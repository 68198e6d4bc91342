import type { Measurement } from './figures.js';
import { commandLine, openLines } from './line-client.js';
import { median, type Pair } from './numbers.js';
import { startBenchDaemon, startFloor } from './processes.js';
import { settledRssMb } from './process-stats.js';

async function rssOnceAnswered(socket: string, pid: number): Promise<number> {
  using client = await openLines(socket);
  await client.ask(commandLine('ping'));
  return await settledRssMb(pid);
}

async function samplePair(): Promise<Pair> {
  await using bare = await startFloor('echo-server');
  await using daemon = await startBenchDaemon();
  const [floor, value] = await Promise.all([rssOnceAnswered(bare.socket, bare.pid), rssOnceAnswered(daemon.paths.socket, daemon.pid())]);
  return { floor, value };
}

export const idleMemory: Measurement = {
  name: 'idle memory',
  async measure({ quick }) {
    const samples = await Promise.all(Array.from({ length: quick ? 3 : 5 }, samplePair));
    const floor = median(samples.map((sample) => sample.floor));
    const value = median(samples.map((sample) => sample.value));
    return [{ name: 'idle RSS', unit: 'MB', value, floor, must: 1.5, should: 1.35 }];
  },
};
