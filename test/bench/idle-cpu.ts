import { setTimeout as delay } from 'node:timers/promises';
import type { Measurement } from './figures.js';
import { call, commandLine, newSession, openLines } from './line-client.js';
import { startBenchDaemon } from './processes.js';
import { cpuMs } from './process-stats.js';

const budgetedMs = 10_000;

export const idleCpu: Measurement = {
  name: 'idle cpu',
  async measure({ quick }) {
    await using daemon = await startBenchDaemon();
    using client = await openLines(daemon.paths.socket);
    using events = await openLines(`${daemon.paths.socket}.events`);
    const sessionId = await newSession(client);
    await events.ask(commandLine('subscribe', { session_id: sessionId }));
    await call(client, 'prompt', { session_id: sessionId, text: 'say ahoy' });
    const watchedMs = quick ? 3_000 : budgetedMs;
    const spentMs = async (): Promise<number> => {
      const from = cpuMs(daemon.pid());
      await delay(watchedMs);
      return cpuMs(daemon.pid()) - from;
    };
    // What is put off until after a run (its words go to the search a second later) is spent once, in the first seconds.
    const first = await spentMs();
    const settled = ((await spentMs()) * budgetedMs) / watchedMs;
    const budget = { unit: 'ms', floor: null, must: 10, should: 0.5 };
    return [
      { name: 'idle CPU in the first 10 s after a run, one subscriber', value: first, ...budget },
      { name: 'idle CPU in 10 s, settled, one subscriber', value: settled, ...budget },
    ];
  },
};
