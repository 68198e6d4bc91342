import { once } from 'node:events';
import { createConnection, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Measurement } from './figures.js';
import { call, openLines } from './line-client.js';
import { startBenchDaemon } from './processes.js';
import { forgetPeakRss, peakRssMb, settledRssMb } from './process-stats.js';

const peers = 500;
/** Nearly the longest line, without its end. */
const halfLine = Buffer.alloc(4_000 * 1024, 'x');

/** The peak while they are there, and what is left when they are gone. */
async function overIdleMb(): Promise<{ peak: number; left: number }> {
  await using daemon = await startBenchDaemon();
  using client = await openLines(daemon.paths.socket);
  await call(client, 'ping');
  const idle = await settledRssMb(daemon.pid());
  forgetPeakRss(daemon.pid());
  const sockets: Socket[] = [];
  for (let i = 0; i < peers; i++) {
    const socket = createConnection(daemon.paths.socket);
    await once(socket, 'connect');
    socket.on('error', () => socket.destroy());
    socket.write(halfLine);
    sockets.push(socket);
  }
  // All has been read that will be: the daemon answers in between and has nothing else to do.
  for (let i = 0; i < 20; i++) {
    await delay(50);
    await call(client, 'ping');
  }
  const peak = peakRssMb(daemon.pid()) - idle;
  const closed = sockets.map((socket) => once(socket, 'close'));
  for (const socket of sockets) socket.destroy();
  await Promise.all(closed);
  await delay(3_000);
  return { peak, left: (await settledRssMb(daemon.pid())) - idle };
}

export const halfLines: Measurement = {
  name: 'half lines',
  async measure() {
    const { peak, left } = await overIdleMb();
    return [
      { name: '500 half lines of 4,000 KiB, peak RSS over idle', unit: 'MB', value: peak, floor: null, must: 64, should: 16 },
      {
        name: '500 half lines, RSS over idle after they are gone',
        unit: 'MB',
        value: Math.max(0, left),
        floor: null,
        must: 64,
        should: 16,
      },
    ];
  },
};
