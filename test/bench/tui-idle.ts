import { setTimeout as delay } from 'node:timers/promises';
import type { Measurement } from './figures.js';
import { call, newSession, openLines } from './line-client.js';
import { startBenchDaemon } from './processes.js';
import { cpuMs } from './process-stats.js';
import { openBenchTerminal } from './tui-terminal.js';

/** V8 collects the heap of a process that fell idle, 8 s after its last work and once more as long after that. */
const settlingMs = 20_000;

export const tuiIdle: Measurement = {
  name: 'tui idle',
  async measure({ quick }) {
    const watchedMs = quick ? 10_000 : 60_000;
    await using daemon = await startBenchDaemon();
    using client = await openLines(daemon.paths.socket);
    const session = await newSession(client);
    await call(client, 'prompt', { session_id: session, text: 'say ahoy' });
    await using terminal = openBenchTerminal(daemon, ['attach', session]);
    await terminal.next('ahoy');
    await delay(settlingMs);
    const before = { bytes: terminal.bytes(), cpuMs: cpuMs(terminal.pid) };
    await delay(watchedMs);
    const shared = { floor: null, should: 0 };
    const seconds = watchedMs / 1_000;
    return [
      { name: `terminal: bytes in ${seconds} idle seconds`, unit: 'bytes', value: terminal.bytes() - before.bytes, ...shared, must: 0 },
      { name: `terminal: CPU in ${seconds} idle seconds`, unit: 'ms', value: cpuMs(terminal.pid) - before.cpuMs, ...shared, must: 1 },
    ];
  },
};
