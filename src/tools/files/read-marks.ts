import { createHash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { limits } from '../../protocol/limits.js';

/** What a file was like when the session saw it last. */
export interface ReadMark {
  /** Of its bytes; undefined for files that are too large to be edited. */
  digest: string | undefined;
  /** Which file it was, its size and its time. */
  stamp: string;
}

export function digestOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

export function stampOf({ dev, ino, size, mtimeNs }: BigIntStats): string {
  return `${dev}:${ino}:${size}:${mtimeNs}`;
}

/** True when two looks at a file saw the same: by its bytes where both know them. */
export function isSame(one: ReadMark, other: ReadMark): boolean {
  return one.digest !== undefined && other.digest !== undefined ? one.digest === other.digest : one.stamp === other.stamp;
}

/** Remembers which files a session has seen, by real path, so that none is changed unseen. The oldest are forgotten. */
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
