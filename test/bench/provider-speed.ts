import { apis, type Api } from '../../src/machine/provider-config.js';
import type { Measurement } from './figures.js';
import { modelOf, startModelDaemon, startModelServer, startSdkReader, watchAnswer } from './model-server.js';
import { alternate, median } from './numbers.js';
import { cpuMs } from './process-stats.js';

const deltas = 2_000;
/** Until the compiler has seen all of it, in the daemon as in the SDK's process. */
const warmUps = 30;

async function cpuOf(pid: number, work: () => Promise<unknown>): Promise<number> {
  const from = cpuMs(pid);
  await work();
  return cpuMs(pid) - from;
}

/** A daemon between a model and one subscriber, against the SDK that it reads the model with. */
function speedOf(api: Api): Measurement {
  return {
    name: `provider speed ${api}`,
    async measure({ quick }) {
      await using server = await startModelServer();
      await using reader = startSdkReader(server, api);
      await using daemon = await startModelDaemon(server, api, modelOf(deltas));
      const floorCpu: number[] = [];
      const daemonCpu: number[] = [];
      async function floor(): Promise<number> {
        let wallMs = Number.NaN;
        floorCpu.push(await cpuOf(reader.pid, async () => (wallMs = await reader.read(deltas))));
        return wallMs;
      }
      async function subject(): Promise<number> {
        let wallMs = Number.NaN;
        daemonCpu.push(await cpuOf(daemon.pid(), async () => ({ wallMs } = await watchAnswer(daemon, deltas))));
        return wallMs;
      }
      await alternate(warmUps, floor, subject);
      floorCpu.length = daemonCpu.length = 0;
      const wall = await alternate(quick ? 9 : 31, floor, subject);
      const cpu = { floor: median(floorCpu), value: median(daemonCpu) };
      return [
        { name: `2,000 deltas from ${api}, one client, wall`, unit: 'ms', ...wall, must: 2, should: 1.3 },
        { name: `2,000 deltas from ${api}, one client, daemon CPU`, unit: 'ms', ...cpu, must: 2, should: 1.5 },
      ];
    },
  };
}

export const providerSpeed: Measurement[] = apis.map(speedOf);
