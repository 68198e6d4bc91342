import { once } from 'node:events';
import { createConnection } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** The least that can ask: one line out, one line back, one at a time. The same for floors and for the daemon. */
export interface LineClient extends Disposable {
  ask(line: string): Promise<string>;
}

export async function openLines(path: string): Promise<LineClient> {
  const socket = createConnection(path);
  await once(socket, 'connect');
  let pieces: Buffer[] = [];
  let answer: { resolve(line: string): void; reject(error: Error): void } | undefined;
  let over = false;
  socket.on('data', (chunk: Buffer) => {
    pieces.push(chunk);
    if (chunk[chunk.length - 1] !== 10) return;
    const line = pieces.length === 1 ? chunk.toString() : Buffer.concat(pieces).toString();
    pieces = [];
    answer?.resolve(line);
  });
  socket.on('error', () => socket.destroy());
  socket.on('close', () => {
    over = true;
    answer?.reject(new Error(`${path} closed the connection`));
  });
  return {
    ask(line) {
      if (over) return Promise.reject(new Error(`${path} closed the connection`));
      socket.write(line);
      return new Promise((resolve, reject) => (answer = { resolve, reject }));
    },
    [Symbol.dispose]: () => socket.destroy(),
  };
}

/** Connects as soon as somebody listens. */
export async function openLinesWhenUp(path: string, timeoutMs = 20_000): Promise<LineClient> {
  const until = performance.now() + timeoutMs;
  for (;;) {
    try {
      return await openLines(path);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if ((code !== 'ENOENT' && code !== 'ECONNREFUSED') || performance.now() > until) throw error;
      await delay(1);
    }
  }
}

let count = 0;

export function commandLine(type: string, payload: object = {}): string {
  return `${JSON.stringify({ v: '1', id: `b${++count}`, type, payload })}\n`;
}

/** Sends a command and returns the payload of its reply; a refusal breaks the bench. */
export async function call<T extends object>(client: LineClient, type: string, payload: object = {}): Promise<T> {
  const reply = JSON.parse(await client.ask(commandLine(type, payload))) as { ok: boolean; payload: T; error?: { message: string } };
  if (!reply.ok) throw new Error(`${type} was refused: ${reply.error?.message}`);
  return reply.payload;
}

export async function newSession(client: LineClient): Promise<string> {
  const { session_id } = await call<{ session_id: string }>(client, 'new_session');
  return session_id;
}
