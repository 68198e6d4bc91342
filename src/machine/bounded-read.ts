import { isSystemError } from './system-calls.js';
import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs';

const { O_RDONLY, O_NONBLOCK, O_NOCTTY, O_NOFOLLOW } = constants;

/** Why a file was not read. */
export interface Unread {
  why: 'missing' | 'not_a_file' | 'too_long' | 'failed';
  /** A sentence with the path. */
  message: string;
  cause?: unknown;
}

export type SmallFile = { bytes: Buffer } | Unread;

interface Options {
  bytesMax: number;
  /** Whether a symlink at the end of the path is followed. False (O_NOFOLLOW) for directories that others may write to. */
  followLinks: boolean;
  /** Called with the open file before the read; its exceptions are passed on. */
  inspect?: (descriptor: number, stat: Stats) => void;
}

/** Reads a regular file of bounded size. Never blocks on a FIFO or a device. */
export function readSmallFile(path: string, { bytesMax, followLinks, inspect }: Options): SmallFile {
  if (path.includes('\0')) return { why: 'missing', message: 'a path cannot contain a NUL byte' };
  let descriptor: number;
  try {
    descriptor = openSync(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | (followLinks ? 0 : O_NOFOLLOW));
  } catch (error) {
    return toUnread(path, error, followLinks);
  }
  try {
    const stat = fstatSync(descriptor);
    if (!stat.isFile()) return { why: 'not_a_file', message: `${path} is not a file` };
    if (stat.size > bytesMax) return tooLong(path, bytesMax);
    inspect?.(descriptor, stat);
    const bytes = readUpTo(descriptor, bytesMax + 1, stat.size);
    return bytes.length > bytesMax ? tooLong(path, bytesMax) : { bytes };
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return toUnread(path, error, followLinks);
  } finally {
    closeSync(descriptor);
  }
}

/** `readSmallFile` as text, without a byte order mark; undefined when the file cannot be read. */
export function readSmallText(path: string, options: Options): string | undefined {
  const file = readSmallFile(path, options);
  return 'bytes' in file ? toText(file.bytes) : undefined;
}

/** Decodes UTF-8 without a byte order mark; invalid bytes become U+FFFD. */
export function toText(bytes: Buffer): string {
  return bytes.toString('utf8').replace(/^\uFEFF/, '');
}

/** The size from fstat is a guess: the file may grow, and it is 0 on some file systems, such as /proc. */
function readUpTo(descriptor: number, bytesMax: number, sizeGuess: number): Buffer {
  let buffer = Buffer.alloc(Math.min(sizeGuess + 1, bytesMax));
  let size = 0;
  for (;;) {
    const count = readSync(descriptor, buffer, size, buffer.length - size, null);
    size += count;
    if (count === 0 || size === bytesMax) return buffer.subarray(0, size);
    if (size === buffer.length) buffer = Buffer.concat([buffer], Math.min(2 * buffer.length + 1, bytesMax));
  }
}

function tooLong(path: string, bytesMax: number): Unread {
  return { why: 'too_long', message: `${path} is longer than ${bytesMax} bytes` };
}

function toUnread(path: string, error: unknown, followLinks: boolean): Unread {
  const code = isSystemError(error) ? error.code : undefined;
  if (code === undefined) throw error;
  if (code === 'ENOENT') return { why: 'missing', message: `${path} does not exist`, cause: error };
  if (code === 'ELOOP' && !followLinks) return { why: 'not_a_file', message: `${path} is a symbolic link`, cause: error };
  // A socket, or a device without a driver.
  if (code === 'ENXIO' || code === 'ENODEV') return { why: 'not_a_file', message: `${path} is not a file`, cause: error };
  return { why: 'failed', message: `cannot read ${path}: ${(error as Error).message}`, cause: error };
}
