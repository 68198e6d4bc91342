import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** Stands between a client and a server, and knows how many connections there were and are. */
export interface CountingProxy extends AsyncDisposable {
  readonly url: string;
  readonly opened: number;
  /** Resolves when no more than so many are open. */
  untilOpen(count: number): Promise<void>;
}

export async function createCountingProxy(target: string): Promise<CountingProxy> {
  const { hostname, port } = new URL(target);
  const open = new Set<Socket>();
  let opened = 0;
  let waiting: (() => void)[] = [];
  const server = createServer((client) => {
    opened++;
    open.add(client);
    const upstream = connect(Number(port), hostname);
    client.pipe(upstream).pipe(client);
    client.on('error', () => upstream.destroy());
    // No client of ours leaves half of a connection open.
    client.on('end', () => client.destroy());
    upstream.on('error', () => client.destroy());
    upstream.on('close', () => client.destroy());
    client.on('close', () => {
      upstream.destroy();
      open.delete(client);
      const ready = waiting;
      waiting = [];
      for (const wake of ready) wake();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get opened() {
      return opened;
    },
    async untilOpen(count) {
      while (open.size > count) await new Promise<void>((resolve) => waiting.push(resolve));
    },
    async [Symbol.asyncDispose]() {
      for (const client of open) client.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
