import { once } from 'node:events';
import { createConnection, type Socket } from 'node:net';
import type { Measurement } from './figures.js';
import { call, commandLine, newSession, openLines } from './line-client.js';
import { median } from './numbers.js';
import { startBenchDaemon } from './processes.js';
import { forgetPeakRss, peakRssMb, settledRssMb } from './process-stats.js';

const deafClients = 200;
const prompts = 40;
/** Long enough for the history to reach its bound on the way. */
const promptChars = 300_000;

/** Subscribes and never reads what it is told. */
async function openDeaf(path: string, sessionId: string): Promise<Socket> {
  const socket = createConnection(path);
  await once(socket, 'connect');
  socket.pause();
  socket.on('error', () => socket.destroy());
  socket.write(commandLine('subscribe', { session_id: sessionId, after: 0 }));
  return socket;
}

async function peakOverIdleMb(): Promise<number> {
  await using daemon = await startBenchDaemon();
  using client = await openLines(daemon.paths.socket);
  const sessionId = await newSession(client);
  await call(client, 'prompt', { session_id: sessionId, text: 'stream 50 words' });
  const idle = await settledRssMb(daemon.pid());
  const deaf = await Promise.all(Array.from({ length: deafClients }, () => openDeaf(`${daemon.paths.socket}.events`, sessionId)));
  forgetPeakRss(daemon.pid());
  for (let i = 0; i < prompts; i++) {
    await call(client, 'prompt', { session_id: sessionId, text: `hm ${i} ${'x'.repeat(promptChars)}` });
  }
  const peak = peakRssMb(daemon.pid()) - idle;
  for (const socket of deaf) socket.destroy();
  return peak;
}

export const loadMemory: Measurement = {
  name: 'load memory',
  async measure({ quick }) {
    const samples: number[] = [];
    for (let i = 0; i < (quick ? 1 : 3); i++) samples.push(await peakOverIdleMb());
    const name = '40 long prompts, 200 clients that never read, peak RSS over idle';
    return [{ name, unit: 'MB', value: median(samples), floor: null, must: 64, should: 32 }];
  },
};
