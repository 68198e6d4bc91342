import type { LogLine } from './log-line.js';

/** LRU cache of lines that were read from the store, for subscribers at the same position. The newest line stays, of any length. */
export function createLineCache(bytesMax: number) {
  const lines = new Map<number, LogLine>();
  let bytes = 0;
  return {
    get(seq: number): LogLine | undefined {
      const line = lines.get(seq);
      if (line) {
        lines.delete(seq);
        lines.set(seq, line);
      }
      return line;
    },
    add(line: LogLine): void {
      lines.set(line.seq, line);
      bytes += line.bytes;
      for (const [seq, oldest] of lines) {
        if (bytes <= bytesMax || lines.size === 1) break;
        lines.delete(seq);
        bytes -= oldest.bytes;
      }
    },
  };
}
