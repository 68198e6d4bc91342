import { limits } from '../protocol/limits.js';

/** The first rows that fit a page (`pageBytesMax`), but at least one. */
export function fitting<T>(rows: readonly T[]): T[] {
  let bytes = 0;
  const end = rows.findIndex((row, index) => (bytes += jsonBytes(row)) > limits.pageBytesMax && index > 0);
  return end === -1 ? [...rows] : rows.slice(0, end);
}

export function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value)) + 1;
}
