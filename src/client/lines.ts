import type { Duplex } from 'node:stream';
import { limits } from '../protocol/limits.js';
import { createLineDecoder } from '../protocol/ndjson.js';

/** Hands out every JSON line. Lines of the daemon are trusted to be what the protocol says; others are passed over. */
export function onLines(stream: Duplex, onLine: (value: unknown) => void, onClose: () => void): void {
  // The daemon never writes a longer line than it reads; the newline and a margin are for free.
  const decoder = createLineDecoder(limits.lineBytesMax + 1024, 2 * limits.lineDepthMax);
  stream.on('data', (chunk: Buffer) => {
    for (const line of decoder.push(chunk)) {
      if (line.kind === 'json') onLine(line.value);
      if (line.kind === 'too_long') stream.destroy();
    }
  });
  // A stream that is not a socket may stay half open.
  stream.on('end', () => stream.destroy());
  stream.on('error', () => stream.destroy());
  stream.on('close', onClose);
}
