import { setTimeout as delay } from 'node:timers/promises';
import type { Measurement } from './figures.js';
import { call, commandLine, newSession, openLines } from './line-client.js';
import { startBenchDaemon } from './processes.js';
import { cpuMs } from './process-stats.js';

const budgetedMs = 10_000;
/** V8 collects the heap of a process that fell idle, 8 s after its last work and once more as long after that. */
const settlingMs = 20_000;

export const idleCpu: Measurement = {
  name: 'idle cpu',
  async measure() {
    await using daemon = await startBenchDaemon();
    using client = await openLines(daemon.paths.socket);
    using events = await openLines(`${daemon.paths.socket}.events`);
    const sessionId = await newSession(client);
    await events.ask(commandLine('subscribe', { session_id: sessionId }));
    await call(client, 'prompt', { session_id: sessionId, text: 'say ahoy' });
    const spentMs = async (watchedMs: number): Promise<number> => {
      const from = cpuMs(daemon.pid());
      await delay(watchedMs);
      return cpuMs(daemon.pid()) - from;
    };
    // What is put off until after a run is spent once: its words go to the search, the heap is collected.
    const first = await spentMs(settlingMs);
    const settled = await spentMs(budgetedMs);
    const shared = { unit: 'ms', floor: null, should: 0.5 };
    return [
      { name: 'idle CPU in the first 20 s after a run, one subscriber', value: first, ...shared, must: null },
      { name: 'idle CPU in 10 s, settled, one subscriber', value: settled, ...shared, must: 10 },
    ];
  },
};
