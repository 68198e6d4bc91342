import type { Readable } from 'node:stream';
import { limits } from '../../protocol/limits.js';

/** The bytes of an answer as they come, for one reader. It is given all that is there; while it does not read, the sender waits. */
export interface ArrivingBytes extends AsyncIterable<Uint8Array, undefined> {
  next(): Promise<IteratorResult<Uint8Array, undefined>>;
  /** Nobody reads on: the sender is hung up on. */
  return(): Promise<IteratorResult<Uint8Array, undefined>>;
}

/** How a stream ended that did not: what has come may still be read, unless nobody wants it any more. */
type Fail = (error: unknown, keepsWhatCame: boolean) => void;

/** Reads a stream that nobody else reads. `onOver` is called once, when it has ended, has failed or is not wanted any more. */
export function readArriving(source: Readable, onOver: () => void): { bytes: ArrivingBytes; fail: Fail } {
  let chunks: Uint8Array[] = [];
  let waitingBytes = 0;
  let over = false;
  let failure: { error: unknown } | undefined;
  let wake: () => void = () => undefined;

  function end(): void {
    if (over) return;
    over = true;
    onOver();
    wake();
  }

  function drop(): void {
    chunks = [];
    waitingBytes = 0;
  }

  /** Everything at once: pieces are often smaller than what it costs to hand one over. */
  function take(): Uint8Array {
    const [first] = chunks;
    const all = first && chunks.length === 1 ? first : Buffer.concat(chunks);
    drop();
    return all;
  }

  source.on('data', (chunk: Uint8Array) => {
    if (over) return;
    chunks.push(chunk);
    waitingBytes += chunk.length;
    if (waitingBytes >= limits.modelBodyWaitingBytesMax) source.pause();
    wake();
  });
  source.on('end', end);

  const bytes: ArrivingBytes = {
    async next() {
      while (chunks.length === 0 && !over) await new Promise<void>((resolve) => (wake = resolve));
      if (chunks.length > 0) {
        const value = take();
        if (source.isPaused()) source.resume();
        return { done: false, value };
      }
      if (failure) throw failure.error;
      return { done: true, value: undefined };
    },
    return() {
      drop();
      failure = undefined;
      source.destroy();
      end();
      return Promise.resolve({ done: true, value: undefined });
    },
    [Symbol.asyncIterator]: () => bytes,
  };
  return {
    bytes,
    fail(error, keepsWhatCame) {
      if (over) return;
      failure = { error };
      // What the stream itself still holds comes as data, too.
      while (keepsWhatCame && source.read() !== null) continue;
      if (!keepsWhatCame) drop();
      end();
    },
  };
}
