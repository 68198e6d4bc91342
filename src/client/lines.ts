import type { Duplex } from 'node:stream';
import { limits } from '../protocol/limits.js';
import { createLineDecoder } from '../protocol/ndjson.js';

/** Decodes NDJSON from the daemon. Lines are not validated against the protocol; malformed lines are ignored. */
export function onLines(stream: Duplex, onLine: (value: unknown) => void, onClose: () => void): void {
  // The daemon writes no longer lines than it reads; the extra bytes are a margin.
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
