import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { HttpResponse } from '../../src/providers/http/http-fetch.js';

export interface Wire extends AsyncDisposable {
  readonly url: string;
  readonly sockets: readonly Socket[];
  /** The next connection. */
  next(): Promise<Socket>;
}

/** Connections without any HTTP: what is said on them is up to the test. */
export async function createWire(onSocket: (socket: Socket, at: number) => void): Promise<Wire> {
  const sockets: Socket[] = [];
  const server: Server = createServer((socket) => {
    socket.on('error', () => undefined);
    onSocket(socket, sockets.push(socket) - 1);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/path?query`,
    sockets,
    next: async () => ((await once(server, 'connection')) as [Socket])[0],
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Calls back with each whole request that comes, body and all. */
export function onRequests(socket: Socket, answer: (text: string) => void): void {
  let text = '';
  socket.on('data', (bytes) => {
    text += bytes.toString('latin1');
    const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
    const head = text.indexOf('\r\n\r\n');
    if (head === -1 || text.length < head + 4 + length) return;
    const whole = text;
    text = '';
    answer(whole);
  });
}

export async function readWhole({ body }: HttpResponse): Promise<string> {
  let text = '';
  for await (const bytes of body) text += Buffer.from(bytes).toString('utf8');
  return text;
}

/** An answer that says `ok`. */
export const ok = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';
