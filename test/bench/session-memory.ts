import type { Measurement } from './figures.js';
import { call, newSession, openLines } from './line-client.js';
import { median } from './numbers.js';
import { startBenchDaemon } from './processes.js';
import { settledRssMb } from './process-stats.js';

const warmUpSessions = 20;
const sessions = 50;

async function addedMb(): Promise<number> {
  await using daemon = await startBenchDaemon();
  using client = await openLines(daemon.paths.socket);
  async function runSessions(count: number): Promise<void> {
    for (let i = 0; i < count; i++) await call(client, 'prompt', { session_id: await newSession(client), text: 'stream 50 words' });
  }
  // What the compiler and the heap take once is not what a session takes.
  await runSessions(warmUpSessions);
  const before = await settledRssMb(daemon.pid());
  await runSessions(sessions);
  return (await settledRssMb(daemon.pid())) - before;
}

export const sessionMemory: Measurement = {
  name: 'session memory',
  async measure({ quick }) {
    const samples = await Promise.all(Array.from({ length: quick ? 3 : 5 }, addedMb));
    const value = Math.max(0, median(samples));
    return [{ name: 'RSS added by 50 sessions that ran once', unit: 'MB', value, floor: null, must: 8, should: 2.5 }];
  },
};
