import type { LogLine } from './log-line.js';

/** Lines that were read from the store a moment ago, for others who are at the same place. The newest is kept however long it is. */
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
