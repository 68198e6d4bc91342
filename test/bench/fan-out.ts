import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Measurement } from './figures.js';
import { call, newSession, openLines } from './line-client.js';
import { median, type Pair } from './numbers.js';
import { startBenchDaemon, startFloor } from './processes.js';
import { cpuMs } from './process-stats.js';
import { startReaders } from './readers.js';

const clients = 50;
const ticksPerSecond = 1_000;
const warmUpSessions = 8;
const warmUpRounds = 3;

/** A tick is a millisecond: the guide says so many words in each, the daemon makes a line of them, the floor writes that line. */
function fanOutAt(deltasPerTick: number): Measurement {
  const name = `fan-out at ${deltasPerTick}`;
  return {
    name,
    async measure({ quick }) {
      const deltas = deltasPerTick * (quick ? 500 : 1_500);
      await using daemon = await startBenchDaemon({ wps: deltasPerTick * ticksPerSecond });
      await using floor = await startFloor('fan-out-server');
      using commands = await openLines(daemon.paths.socket);
      using control = await openLines(floor.socket);
      const recordFile = join(daemon.root, 'lines');

      async function stream(sessions: number): Promise<number> {
        const sessionIds: string[] = [];
        for (let i = 0; i < sessions; i++) sessionIds.push(await newSession(commands));
        const socket = `${daemon.paths.socket}.events`;
        await using readers = await startReaders({ socket, count: clients, sessionIds, last: 'agent_end', recordFile });
        const from = cpuMs(daemon.pid());
        for (const session_id of sessionIds) {
          await call(commands, 'prompt', { session_id, text: `stream ${deltas} words`, wait: false });
        }
        await readers.done;
        return cpuMs(daemon.pid()) - from;
      }

      async function replay(): Promise<number> {
        await call(control, 'load', { file: recordFile });
        const { socket } = floor;
        const replayed = `${recordFile}.replayed`;
        await using readers = await startReaders({ socket, count: clients, sessionIds: [''], last: 'agent_end', recordFile: replayed });
        const from = cpuMs(floor.pid);
        await call(control, 'go');
        await readers.done;
        const spentMs = cpuMs(floor.pid) - from;
        if (!readFileSync(recordFile).equals(readFileSync(replayed))) throw new Error('the bare fan-out sent other lines');
        return spentMs;
      }

      // Many sessions at once are the quickest way to show the compiler what matters.
      for (let round = 0; round < warmUpRounds; round++) await stream(warmUpSessions);
      await replay();
      const rounds: Pair[] = [];
      for (let round = 0; round < (quick ? 3 : 5); round++) {
        const value = await stream(1);
        rounds.push({ value, floor: await replay() });
      }
      const perDelta = 1000 / (deltas * clients);
      return [
        {
          name: `fan-out to ${clients}, ${deltasPerTick} deltas a tick, CPU per delta × client`,
          unit: 'µs',
          value: perDelta * median(rounds.map(({ value }) => value)),
          floor: perDelta * median(rounds.map(({ floor }) => floor)),
          must: 1.8,
          should: 1.3,
        },
      ];
    },
  };
}

export const fanOut: Measurement[] = [1, 10, 50].map(fanOutAt);
