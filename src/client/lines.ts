import { createConnection, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { limits } from '../protocol/limits.js';
import { createLineDecoder } from '../protocol/ndjson.js';
import { DaemonUnresponsive, NoDaemon } from './errors.js';

/** Connects to a socket of the daemon. A daemon with a full backlog is busy, not absent: it is tried again for a while. */
export async function openSocket(path: string): Promise<Socket> {
  const deadline = performance.now() + limits.unansweredMs;
  for (let waitMs: number = limits.connectRetryMinMs; ; waitMs = Math.min(2 * waitMs, limits.connectRetryMaxMs)) {
    try {
      return await dial(path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw new NoDaemon(`no daemon listens on ${path}`, { cause: error });
      if (performance.now() > deadline) {
        const seconds = limits.unansweredMs / 1000;
        throw new DaemonUnresponsive(`the daemon on ${path} has taken no connection for ${seconds} s; too many wait`, { cause: error });
      }
      // Those who wait together do not come back together.
      await delay(waitMs * (0.5 + Math.random()));
    }
  }
}

function dial(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(path);
    socket.once('connect', () => {
      socket.removeAllListeners('error');
      resolve(socket);
    });
    socket.once('error', reject);
  });
}

/** Hands out every JSON line. Lines of the daemon are trusted to be what the protocol says; others are passed over. */
export function onLines(socket: Socket, onLine: (value: unknown) => void, onClose: () => void): void {
  // The daemon never writes a longer line than it reads; the newline and a margin are for free.
  const decoder = createLineDecoder(limits.lineBytesMax + 1024, 2 * limits.lineDepthMax);
  socket.on('data', (chunk) => {
    for (const line of decoder.push(chunk)) {
      if (line.kind === 'json') onLine(line.value);
      if (line.kind === 'too_long') socket.destroy();
    }
  });
  socket.on('error', () => socket.destroy());
  socket.on('close', onClose);
}
