import { createConnection, type Socket } from 'node:net';
import { once } from 'node:events';

export interface RawLine {
  v?: string;
  id: string;
  type: string;
  ok?: boolean;
  seq?: number;
  payload: Record<string, unknown> & { session_id?: string; run_id?: string; message_id?: string };
  error?: { code: string; message: string; details: Record<string, unknown>; retryable: boolean; cause?: string };
}

/** A client that knows nothing but lines, for saying what a well-behaved one never would. */
export interface RawClient {
  readonly socket: Socket;
  readonly lines: RawLine[];
  send(data: string | Buffer | object): void;
  /** The next line that was not yet handed out. */
  next(): Promise<RawLine>;
  /** Sends a command and waits for the line with its id. */
  call(type: string, payload?: object): Promise<RawLine>;
  /** The first line, past or to come, that fits. */
  until(fits: (line: RawLine) => boolean): Promise<RawLine>;
  /** Resolves when the daemon has closed the connection. */
  ended(): Promise<void>;
  close(): void;
}

export async function openRaw(path: string): Promise<RawClient> {
  const socket = createConnection(path);
  await once(socket, 'connect');
  const lines: RawLine[] = [];
  let unfinished: Buffer[] = [];
  let handed = 0;
  let count = 0;
  let over = false;
  let wake: (() => void)[] = [];

  function wakeAll(): void {
    const waiting = wake;
    wake = [];
    for (const resolve of waiting) resolve();
  }
  socket.on('data', (chunk: Buffer) => {
    let from = 0;
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
      lines.push(JSON.parse(Buffer.concat([...unfinished, chunk.subarray(from, at)]).toString()) as RawLine);
      unfinished = [];
      from = at + 1;
    }
    if (from < chunk.length) unfinished.push(chunk.subarray(from));
    wakeAll();
  });
  let failure: Error | undefined;
  socket.on('error', (error) => (failure = error));
  socket.on('close', () => {
    over = true;
    wakeAll();
  });

  async function changed(): Promise<void> {
    if (over)
      throw new Error(
        `the connection is closed${failure === undefined ? '' : ` (${failure.message})`}; last lines: ${lines
          .slice(-3)
          .map((line) => JSON.stringify(line).slice(0, 300))
          .join(' ')}`,
      );
    await new Promise<void>((resolve) => wake.push(resolve));
  }

  const client: RawClient = {
    socket,
    lines,
    send(data) {
      socket.write(typeof data === 'string' || Buffer.isBuffer(data) ? data : `${JSON.stringify(data)}\n`);
    },
    async next() {
      for (;;) {
        const line = lines[handed];
        if (line) {
          handed++;
          return line;
        }
        await changed();
      }
    },
    async call(type, payload = {}) {
      const id = `r${++count}`;
      client.send({ v: '1', id, type, payload });
      return client.until((line) => line.id === id);
    },
    async until(fits) {
      for (let from = 0; ;) {
        const found = lines.findIndex((line, index) => index >= from && fits(line));
        if (found !== -1) return lines[found]!;
        from = lines.length;
        await changed();
      }
    },
    async ended() {
      while (!over) await changed();
    },
    close: () => socket.destroy(),
  };
  return client;
}

/** Resolves when a socket is closed, now or before, be it with an error: `once` of events would reject on that. */
export function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.closed) resolve();
    else socket.once('close', () => resolve());
  });
}
