import type { ServerResponse } from 'node:http';
import type { Said } from './voice.js';

/** Written together when nothing asks for less. */
const coalescedBytes = 16 * 1024;

export interface OutletOptions {
  headers: Record<string, string>;
  chunkBytes: number | undefined;
  /** So many deltas are handed to the socket now. */
  onDeltas(count: number): void;
}

/** Where an answer goes: gathers events, and writes them when told or when there are many. */
export interface Outlet {
  /** Resolves when the peer has left. */
  readonly gone: Promise<void>;
  isGone(): boolean;
  /** Gathers an event: whether so much is gathered that it is time to flush. */
  say(said: Said): boolean;
  raw(data: string | Uint8Array): Promise<void>;
  flush(): Promise<void>;
  /** Ends the connection, once all that was said is out. */
  cut(): Promise<void>;
  /** Whether the peer was there to the last byte. */
  end(): Promise<boolean>;
}

export function createOutlet(response: ServerResponse, { headers, chunkBytes, onDeltas }: OutletOptions): Outlet {
  let gathered = '';
  let deltas = 0;
  const gone = new Promise<void>((resolve) => response.once('close', resolve));
  const isGone = (): boolean => response.destroyed || response.socket === null;

  function begin(): void {
    if (!response.headersSent) response.writeHead(200, headers).flushHeaders();
  }
  /** Resolves when the bytes have left this process. */
  function writeOut(data: string | Uint8Array): Promise<void> {
    return Promise.race([gone, new Promise<void>((resolve) => response.write(data, () => resolve()))]);
  }
  async function write(data: string | Uint8Array): Promise<void> {
    if (isGone()) return;
    begin();
    if (chunkBytes !== undefined) {
      const bytes = Buffer.from(data);
      for (let at = 0; at < bytes.length && !isGone(); at += chunkBytes) await writeOut(bytes.subarray(at, at + chunkBytes));
    } else if (data.length > 0 && !response.write(data)) {
      await Promise.race([gone, new Promise<void>((resolve) => response.once('drain', resolve))]);
    }
  }
  async function flush(): Promise<void> {
    if (gathered === '') return;
    const data = gathered;
    const count = deltas;
    gathered = '';
    deltas = 0;
    if (count > 0) onDeltas(count);
    await write(data);
  }

  return {
    gone,
    isGone,
    say({ sse, delta }) {
      gathered += sse;
      if (delta) deltas++;
      return gathered.length >= coalescedBytes;
    },
    async raw(data) {
      await flush();
      await write(data);
    },
    flush,
    async cut() {
      await flush();
      if (isGone()) return;
      begin();
      // An empty write is called back when those before it are.
      await writeOut('');
      response.socket?.destroy();
    },
    async end() {
      await flush();
      if (isGone()) return false;
      begin();
      await Promise.race([gone, new Promise<void>((resolve) => response.end(resolve))]);
      return response.writableFinished;
    },
  };
}
