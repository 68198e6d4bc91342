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
    await delay(1_000);
    const watchedMs = quick ? 3_000 : budgetedMs;
    const from = cpuMs(daemon.pid());
    await delay(watchedMs);
    const value = ((cpuMs(daemon.pid()) - from) * budgetedMs) / watchedMs;
    return [{ name: 'idle CPU in 10 s, one subscriber', unit: 'ms', value, floor: null, must: 10, should: 0.5 }];
  },
};
