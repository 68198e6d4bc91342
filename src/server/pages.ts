import { limits } from '../protocol/limits.js';

/** As many of the first rows as fit a line together. There is always room for one. */
export function fitting<T>(rows: readonly T[]): T[] {
  let bytes = 0;
  const end = rows.findIndex((row, index) => (bytes += jsonBytes(row)) > limits.pageBytesMax && index > 0);
  return end === -1 ? [...rows] : rows.slice(0, end);
}

export function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value)) + 1;
}
