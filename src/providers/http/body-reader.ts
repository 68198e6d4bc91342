import type { Readable } from 'node:stream';
import { limits } from '../../protocol/limits.js';

/** A single-consumer iterator over a response body. Each step returns all buffered bytes; a slow consumer pauses the socket (backpressure). */
export interface BodyReader extends AsyncIterable<Uint8Array, undefined> {
  next(): Promise<IteratorResult<Uint8Array, undefined>>;
  /** Stops reading and closes the connection. */
  return(): Promise<IteratorResult<Uint8Array, undefined>>;
}

/** Ends the iteration with an error; buffered bytes are still delivered with `keepsBuffered`. */
type Fail = (error: unknown, keepsBuffered: boolean) => void;

/** Reads a stream. `onOver` is called once, when the stream has ended, has failed or was stopped. */
export function createBodyReader(source: Readable, onOver: () => void): { bytes: BodyReader; fail: Fail } {
  let chunks: Uint8Array[] = [];
  let bufferedBytes = 0;
  let isEnded = false;
  let failure: { error: unknown } | undefined;
  let wake: () => void = () => undefined;

  function end(): void {
    if (isEnded) return;
    isEnded = true;
    onOver();
    wake();
  }

  function clear(): void {
    chunks = [];
    bufferedBytes = 0;
  }

  /** All buffered chunks at once: chunks are often too small to be worth a step each. */
  function take(): Uint8Array {
    const [first] = chunks;
    const all = first && chunks.length === 1 ? first : Buffer.concat(chunks);
    clear();
    return all;
  }

  source.on('data', (chunk: Uint8Array) => {
    if (isEnded) return;
    chunks.push(chunk);
    bufferedBytes += chunk.length;
    if (bufferedBytes >= limits.modelBodyWaitingBytesMax) source.pause();
    wake();
  });
  source.on('end', end);

  const bytes: BodyReader = {
    async next() {
      while (chunks.length === 0 && !isEnded) await new Promise<void>((resolve) => (wake = resolve));
      if (chunks.length > 0) {
        const value = take();
        if (source.isPaused()) source.resume();
        return { done: false, value };
      }
      if (failure) throw failure.error;
      return { done: true, value: undefined };
    },
    return() {
      clear();
      failure = undefined;
      source.destroy();
      end();
      return Promise.resolve({ done: true, value: undefined });
    },
    [Symbol.asyncIterator]: () => bytes,
  };
  return {
    bytes,
    fail(error, keepsBuffered) {
      if (isEnded) return;
      failure = { error };
      // Flushes the internal buffer of the stream into 'data' events.
      while (keepsBuffered && source.read() !== null) continue;
      if (!keepsBuffered) clear();
      end();
    },
  };
}
