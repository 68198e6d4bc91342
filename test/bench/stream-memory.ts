import type { Measurement } from './figures.js';
import { median } from './numbers.js';
import { startBenchDaemon } from './processes.js';
import { forgetPeakRss, peakRssMb, settledRssMb } from './process-stats.js';
import { watchRun } from './watched-run.js';

async function peakOverIdleMb(): Promise<number> {
  await using daemon = await startBenchDaemon();
  const idle = await settledRssMb(daemon.pid());
  forgetPeakRss(daemon.pid());
  await watchRun(daemon, 'stream 10000 words');
  return peakRssMb(daemon.pid()) - idle;
}

export const streamMemory: Measurement = {
  name: 'stream memory',
  async measure({ quick }) {
    const samples = await Promise.all(Array.from({ length: quick ? 3 : 5 }, peakOverIdleMb));
    return [{ name: 'peak RSS over idle, 10,000 deltas', unit: 'MB', value: median(samples), floor: null, must: 40, should: 10 }];
  },
};
