import { readdirSync, statSync, type BigIntStats } from 'node:fs';
import { isSystemError } from './system-calls.js';

/** A file that this process has open under a path. */
export interface OpenedFile {
  /** False once the path is gone or names another file: what is written to the open one is lost with the process. */
  isInPlace(): boolean;
}

/** Remembers the device and inode that a path has now, which must be those of a file that this process has open. */
export function rememberOpened(path: string): OpenedFile {
  const opened = statOf(path);
  const isOpen = opened !== undefined && isOpenHere(opened);
  return {
    isInPlace() {
      const named = statOf(path);
      return isOpen && named?.ino === opened.ino && named.dev === opened.dev;
    },
  };
}

/** Whether this process has a file open. It is not opened for that: closing it again would drop the POSIX locks of the process on it. */
export function isOpenHere({ ino, dev }: BigIntStats): boolean {
  return readdirSync('/proc/self/fd').some((name) => {
    const open = statOf(`/proc/self/fd/${name}`);
    return open?.ino === ino && open.dev === dev;
  });
}

/** Undefined for a path that is missing or cannot be reached. */
export function statOf(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false });
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}
