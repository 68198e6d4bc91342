import { createHash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { limits } from '../../protocol/limits.js';

/** The version of a file that a session has read or written last. */
export interface ReadMark {
  /** SHA-256 of the content; undefined for files that are too large to be edited. */
  digest: string | undefined;
  /** Device, inode, size and mtime. */
  stamp: string;
}

export function sha256Of(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

export function stampOf({ dev, ino, size, mtimeNs }: BigIntStats): string {
  return `${dev}:${ino}:${size}:${mtimeNs}`;
}

/** Compares two versions of a file: by digest where both have one, else by stamp. */
export function isSameVersion(one: ReadMark, other: ReadMark): boolean {
  return one.digest !== undefined && other.digest !== undefined ? one.digest === other.digest : one.stamp === other.stamp;
}

/** An LRU cache of the files that each session has read, by real path, so that no file is replaced unread. */
export function createReadMarks() {
  const sessions = new Map<string, Map<string, ReadMark>>();

  function touch<T>(map: Map<string, T>, key: string, value: T, max: number): void {
    map.delete(key);
    map.set(key, value);
    for (const oldest of map.keys()) {
      if (map.size <= max) break;
      map.delete(oldest);
    }
  }

  return {
    note(sessionId: string, realPath: string, mark: ReadMark): void {
      const marks = sessions.get(sessionId) ?? new Map<string, ReadMark>();
      touch(sessions, sessionId, marks, limits.readMarkSessionsMax);
      touch(marks, realPath, mark, limits.readMarksPerSessionMax);
    },
    find: (sessionId: string, realPath: string): ReadMark | undefined => sessions.get(sessionId)?.get(realPath),
  };
}
export type ReadMarks = ReturnType<typeof createReadMarks>;
