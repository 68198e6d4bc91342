import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface RawServer extends AsyncDisposable {
  readonly url: string;
  /** Every request that came, whatever it was for. */
  readonly requests: readonly IncomingMessage[];
}

/** A server that answers in ways in which no model does. */
export async function createRawServer(
  answer: (response: ServerResponse, request: IncomingMessage) => void,
  hear: (body: string) => void = () => undefined,
): Promise<RawServer> {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.once('end', () => {
      hear(body);
      answer(response, request);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Writes the same bytes again and again for as long as there is a reader; resolves when it has left. */
export function writeForever(response: ServerResponse, bytes: Uint8Array | string): Promise<void> {
  function write(): void {
    while (!response.destroyed && response.write(bytes)) continue;
    if (!response.destroyed) response.once('drain', write);
  }
  write();
  return new Promise((resolve) => response.once('close', resolve));
}
