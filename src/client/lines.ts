import { createConnection, type Socket } from 'node:net';
import { limits } from '../protocol/limits.js';
import { createLineDecoder } from '../protocol/ndjson.js';
import { NoDaemon } from './errors.js';

/** Connects to a socket of the daemon. */
export function openSocket(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(path);
    socket.once('connect', () => {
      socket.removeAllListeners('error');
      resolve(socket);
    });
    socket.once('error', (error) => reject(new NoDaemon(`no daemon listens on ${path}`, { cause: error })));
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
