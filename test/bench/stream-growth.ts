import type { Measurement } from './figures.js';
import { alternate } from './numbers.js';
import { startBenchDaemon } from './processes.js';
import { watchRun } from './watched-run.js';

export const streamGrowth: Measurement = {
  name: 'stream growth',
  async measure({ quick }) {
    await using daemon = await startBenchDaemon();
    const wallMs = async (deltas: number): Promise<number> => (await watchRun(daemon, `stream ${deltas} words`)).wallMs;
    for (let i = 0; i < 3; i++) await wallMs(10_000);
    const pair = await alternate(
      quick ? 5 : 11,
      () => wallMs(2_000),
      () => wallMs(10_000),
    );
    return [{ name: '10,000 deltas over 2,000, wall', unit: 'ms', ...pair, must: 6, should: 5 }];
  },
};
