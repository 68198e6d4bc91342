import type { Measurement } from './figures.js';
import { commandLine, openLines } from './line-client.js';
import { alternate } from './numbers.js';
import { startBenchDaemon, startFloor } from './processes.js';
import { settledRssMb } from './process-stats.js';

async function rssOnceAnswered(socket: string, pid: number): Promise<number> {
  using client = await openLines(socket);
  await client.ask(commandLine('ping'));
  return await settledRssMb(pid);
}

export const idleMemory: Measurement = {
  name: 'idle memory',
  async measure({ quick }) {
    const pair = await alternate(
      quick ? 3 : 5,
      async () => {
        await using floor = await startFloor('echo-server');
        return await rssOnceAnswered(floor.socket, floor.pid);
      },
      async () => {
        await using daemon = await startBenchDaemon();
        return await rssOnceAnswered(daemon.paths.socket, daemon.pid());
      },
    );
    return [{ name: 'idle RSS', unit: 'MB', ...pair, must: 1.5, should: 1.35 }];
  },
};
