import { closeSync, mkdirSync, openSync, readdirSync, readSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { limits } from '../../protocol/limits.js';
import type { ArtifactPiece } from '../../store/rows/artifact-rows.js';
import type { ReadStore } from '../../store/store.js';
import type { Artifacts } from '../../tools/port.js';
import type { RetryingCommit } from '../door/retrying-commit.js';

interface Deps {
  store: ReadStore;
  bookkeeping: Pick<RetryingCommit, 'maintainWithRetry'>;
  /** Where files are kept; made when the first is. */
  dir: string;
  now(): number;
  newId(prefix: 'art'): string;
  /** Of all files together. */
  bytesMax?: number;
}

/** Output that is too long for the history: a file each, and a row that says whose it is. */
export function createArtifactFiles({ store, bookkeeping, dir, now, newId, bytesMax = limits.keptOutputsBytesMax }: Deps) {
  function read(id: string, offset: number, limit: number): ArtifactPiece | undefined {
    const found = store.artifacts.find(id);
    if (!found) return undefined;
    const { mimeType, bytes, droppedBytes, file, entryId } = found;
    const whole = { mimeType, totalBytes: bytes, droppedBytes };
    if (entryId !== null) return { ...whole, data: store.artifacts.readEntry(entryId, offset, limit) };
    if (bytes === 0) return { ...whole, data: Buffer.alloc(0) };
    const data = file === null ? undefined : readPiece(join(dir, file), offset, limit);
    return data && { ...whole, data };
  }

  return {
    read,
    of: (sessionId: string): Artifacts => ({
      begin() {
        mkdirSync(dir, { recursive: true, mode: 0o700 });
        const id = newId('art');
        return { id, path: join(dir, id) };
      },
      async keep({ id, mimeType, bytes, droppedBytes = 0 }) {
        let dropped: string[] = [];
        await bookkeeping.maintainWithRetry(sessionId, ({ artifacts }) => {
          artifacts.addFile({ id, sessionId, file: id, mimeType, bytes, droppedBytes }, now());
          dropped = artifacts.dropOldest(bytesMax, id);
        });
        // After the commit: a file that a kill leaves behind is swept at the next start.
        for (const file of dropped) rmSync(join(dir, file), { force: true });
      },
      read: (id, offset, limit) => (store.artifacts.find(id)?.sessionId === sessionId ? read(id, offset, limit) : undefined),
    }),
    /** Removes a session's files; its rows are swept afterwards. */
    drop(sessionId: string): void {
      for (const file of store.artifacts.filesOf(sessionId)) rmSync(join(dir, file), { force: true });
    },
    /** Removes files that no row names: what a kill left. Call before anything is written. */
    sweep(): void {
      for (const file of filesIn(dir)) if (!store.artifacts.hasFile(file)) rmSync(join(dir, file), { force: true });
    },
  };
}
export type ArtifactFiles = ReturnType<typeof createArtifactFiles>;

function filesIn(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}

/** Undefined when the file is gone. */
function readPiece(path: string, offset: number, limit: number): Buffer | undefined {
  let fd: number;
  try {
    fd = openSync(path, 'r');
  } catch (error) {
    if (error instanceof Error && 'code' in error) return undefined;
    throw error;
  }
  try {
    const data = Buffer.alloc(limit);
    return data.subarray(0, readSync(fd, data, 0, limit, offset));
  } finally {
    closeSync(fd);
  }
}
