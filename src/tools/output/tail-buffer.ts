/** A buffer of the last `max` bytes of a stream, in memory proportional to what it holds. */
export function createTailBuffer(max: number) {
  let buffer = Buffer.alloc(0);
  let used = 0;
  return {
    push(chunk: Buffer): void {
      const piece = chunk.subarray(Math.max(0, chunk.length - max));
      if (used + piece.length > buffer.length) {
        const kept = buffer.subarray(Math.max(0, used - Math.max(0, max - piece.length)), used);
        const size = Math.min(max * 2, Math.max(2 * (kept.length + piece.length), tuning.growMin));
        const next = size > buffer.length ? Buffer.allocUnsafeSlow(size) : buffer;
        kept.copy(next);
        buffer = next;
        used = kept.length;
      }
      piece.copy(buffer, used);
      used += piece.length;
    },
    /** Valid until the next push. */
    bytes: (): Buffer => buffer.subarray(Math.max(0, used - max), used),
    clear(): void {
      used = 0;
    },
  };
}

const tuning = { growMin: 1_024 } as const;

/** How many bytes at the end belong to an incomplete UTF-8 sequence. */
export function incompleteUtf8Tail(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? back : 0;
  }
  return 0;
}

/** How many bytes at the beginning are UTF-8 continuation bytes of a character that was cut off. */
export function incompleteUtf8Head(bytes: Buffer): number {
  let count = 0;
  while (count < Math.min(3, bytes.length) && ((bytes[count] ?? 0) & 0xc0) === 0x80) count++;
  return count;
}
