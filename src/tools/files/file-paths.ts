import { join, resolve } from 'node:path';
import * as z from 'zod';
import { homeOrRoot } from '../../machine/home.js';
import { isSystemError } from '../../machine/system-calls.js';
import { limits } from '../../protocol/limits.js';
import { makeVisibleLine } from '../../protocol/sanitize.js';

export const pathParameter = z
  .string()
  .min(1)
  .max(limits.pathBytesMax)
  .refine((path) => !path.includes('\0'), 'a path has no NUL character');

/** Resolves a path of a model: `~/` is the home directory, other relative paths are relative to the working directory. */
export function absolutePath(path: string, cwd: string): string {
  if (path === '~' || path.startsWith('~/')) return join(homeOrRoot(process.env), path.slice(1));
  return resolve(cwd, path);
}

/** A path for display: sanitized, and relative to the working directory where it is below that. */
export function shownPath(path: string, cwd: string): string {
  if (path === cwd) return '.';
  return makeVisibleLine(path.startsWith(cwd === '/' ? '/' : `${cwd}/`) ? path.slice(cwd === '/' ? 1 : cwd.length + 1) : path);
}

const faultWords: Record<string, string> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'has something in its path that is not a directory',
  EISDIR: 'is a directory',
  EACCES: 'is not accessible: the system denies permission',
  EPERM: 'cannot be changed: the system does not permit it',
  ELOOP: 'is a loop of symbolic links',
  ENAMETOOLONG: 'has a name that is too long',
  ENOSPC: 'was not written: the disk is full',
  EDQUOT: 'was not written: the disk quota is used up',
  EROFS: 'is on a read-only file system',
  EFBIG: 'would be too large',
  ENXIO: 'is not a file that can be read',
};

/** Describes a system error (errno) about a path, as the end of a sentence. Any other error is rethrown. */
export function faultOf(error: unknown): string {
  if (!isSystemError(error)) throw error;
  return faultWords[error.code] ?? `cannot be used (${error.code})`;
}

export function isFault(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && codes.includes((error as NodeJS.ErrnoException).code ?? '');
}

/** `12 bytes`, `3.4 MB`. */
export function shownSize(bytes: bigint | number): string {
  let size = Number(bytes);
  if (size < 1024) return `${size} ${size === 1 ? 'byte' : 'bytes'}`;
  let unit = 'B';
  for (const next of ['KB', 'MB', 'GB', 'TB']) {
    if (size < 1024) break;
    size /= 1024;
    unit = next;
  }
  return `${size.toFixed(size < 10 ? 1 : 0)} ${unit}`;
}

/** `1 line`, `2 lines`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
