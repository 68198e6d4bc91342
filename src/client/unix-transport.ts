import { createConnection, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { limits } from '../protocol/limits.js';
import { DaemonUnresponsive, NoDaemon } from './errors.js';
import { findLockHolder } from '../machine/lock-holder.js';
import type { Paths } from '../machine/paths.js';
import type { Transport } from './transport.js';

/** The transport to the daemon of this machine and user: its two Unix sockets. */
export function createUnixTransport(paths: Paths): Transport {
  return {
    name: paths.socket,
    open: (kind) => openSocket(kind === 'events' ? `${paths.socket}.events` : paths.socket),
    async start() {
      const { ensureDaemon } = await import('./autostart.js');
      await ensureDaemon(paths);
    },
    findProcess: () => findLockHolder(paths.stateDir),
  };
}

/** Connects to a socket of the daemon. A full backlog (EAGAIN) is retried with backoff. */
export async function openSocket(path: string): Promise<Socket> {
  const deadline = performance.now() + limits.unansweredMs;
  for (let waitMs: number = limits.connectRetryMinMs; ; waitMs = Math.min(2 * waitMs, limits.connectRetryMaxMs)) {
    try {
      return await dial(path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw new NoDaemon(`no daemon listens on ${path}`, { cause: error });
      if (performance.now() > deadline) {
        const seconds = limits.unansweredMs / 1000;
        throw new DaemonUnresponsive(`the daemon on ${path} has accepted no connection for ${seconds} s: its backlog is full; try again`, {
          cause: error,
        });
      }
      // Jitter: clients that failed together do not retry together.
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
