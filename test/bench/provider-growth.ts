import { apis, type Api } from '../../src/machine/provider-config.js';
import type { Measurement } from './figures.js';
import { modelOf, startModelDaemon, startModelServer, watchAnswer } from './model-server.js';
import { alternate } from './numbers.js';

const few = 2_000;
const many = 10_000;

/** Five times the deltas take five times as long. Two daemons, as a model is the config's; both are warmed by as much text. */
function growthOf(api: Api): Measurement {
  return {
    name: `provider growth ${api}`,
    async measure({ quick }) {
      await using server = await startModelServer();
      await using short = await startModelDaemon(server, api, modelOf(few));
      await using long = await startModelDaemon(server, api, modelOf(many));
      const wallOfFew = async (): Promise<number> => (await watchAnswer(short, few)).wallMs;
      const wallOfMany = async (): Promise<number> => (await watchAnswer(long, many)).wallMs;
      for (let i = 0; i < 4; i++) {
        await wallOfMany();
        for (let done = 0; done < many; done += few) await wallOfFew();
      }
      const pair = await alternate(quick ? 5 : 15, wallOfFew, wallOfMany);
      return [{ name: `10,000 deltas over 2,000 from ${api}, wall`, unit: 'ms', ...pair, must: 6, should: 5 }];
    },
  };
}

export const providerGrowth: Measurement[] = apis.map(growthOf);
