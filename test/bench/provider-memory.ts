import { apis, type Api } from '../../src/machine/provider-config.js';
import type { Measurement } from './figures.js';
import { modelOf, startModelDaemon, startModelServer, watchAnswer, type ModelServer } from './model-server.js';
import { median } from './numbers.js';
import { forgetPeakRss, peakRssMb, settledRssMb } from './process-stats.js';

/** The SDK is loaded by the first answer: it counts. */
async function peakOverIdleMb(server: ModelServer, api: Api): Promise<number> {
  await using daemon = await startModelDaemon(server, api, modelOf(10_000));
  const idle = await settledRssMb(daemon.pid());
  forgetPeakRss(daemon.pid());
  await watchAnswer(daemon, 10_000);
  return peakRssMb(daemon.pid()) - idle;
}

/** What twenty more answers leave behind, once ten have made the heap what it is. */
async function growthMb(server: ModelServer, api: Api): Promise<number> {
  await using daemon = await startModelDaemon(server, api, modelOf(2_000));
  async function rssAfter(runs: number): Promise<number> {
    for (let i = 0; i < runs; i++) await watchAnswer(daemon, 2_000);
    return settledRssMb(daemon.pid());
  }
  const after10 = await rssAfter(10);
  return (await rssAfter(20)) - after10;
}

function memoryOf(api: Api): Measurement {
  return {
    name: `provider memory ${api}`,
    async measure({ quick }) {
      await using server = await startModelServer();
      const times = quick ? 3 : 5;
      const peaks = await Promise.all(Array.from({ length: times }, () => peakOverIdleMb(server, api)));
      const growths = await Promise.all(Array.from({ length: times }, () => growthMb(server, api)));
      return [
        { name: `peak RSS over idle, 10,000 deltas from ${api}`, unit: 'MB', value: median(peaks), floor: null, must: 40, should: 10 },
        { name: `RSS after 30 over 10 answers of ${api}`, unit: 'MB', value: median(growths), floor: null, must: 8, should: 2 },
      ];
    },
  };
}

export const providerMemory: Measurement[] = apis.map(memoryOf);
