import { closeSync, mkdirSync, openSync, readdirSync, readSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { ArtifactPiece } from '../../store/rows/artifact-rows.js';
import type { ReadStore } from '../../store/store.js';
import type { Artifacts } from '../../tools/port.js';
import type { RetryingCommit } from '../door/retrying-commit.js';

interface Deps {
  store: ReadStore;
  bookkeeping: Pick<RetryingCommit, 'maintainWithRetry' | 'tryMaintain'>;
  /** The directory of the artifact files; made with the first file. */
  dir: string;
  now(): number;
  newId(prefix: 'art'): string;
  retention(): ArtifactRetention;
}

/** How many of the artifact files are kept. */
export interface ArtifactRetention {
  /** Quota of all files together. */
  artifactBytes: number;
  /** Null: as long as there is room. */
  artifactAgeMs: number | null;
}

/** Artifacts: tool output too long for the history, a file each, and a row that names the session. */
export function createArtifactFiles({ store, bookkeeping, dir, now, newId, retention }: Deps) {
  /** With `content`, the content of a message as JSON instead of its text. */
  function read(id: string, offset: number, limit: number, content = false): ArtifactPiece | undefined {
    const found = store.artifacts.find(id);
    if (!found) return undefined;
    const { mimeType, bytes, droppedBytes, file, entryId } = found;
    const whole = { mimeType, totalBytes: bytes, droppedBytes };
    if (entryId !== null && content) return store.artifacts.readContent(entryId, offset, limit);
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
          dropped = artifacts.dropOldest(retention().artifactBytes, id);
        });
        // Unlink after the commit: a file that a crash leaves behind is swept at the next start.
        for (const file of dropped) rmSync(join(dir, file), { force: true });
      },
      read: (id, offset, limit) => (store.artifacts.find(id)?.sessionId === sessionId ? read(id, offset, limit) : undefined),
    }),
    /** Drops a batch of what is too old or too much. True when more may be left. */
    expire(): boolean {
      const { artifactBytes, artifactAgeMs } = retention();
      let dropped: string[] = [];
      const isDone = bookkeeping.tryMaintain(({ artifacts }) => {
        dropped = artifactAgeMs === null ? [] : artifacts.dropExpired(now() - artifactAgeMs);
        if (dropped.length === 0) dropped = artifacts.dropOldest(artifactBytes);
      });
      if (!isDone) return false;
      for (const file of dropped) rmSync(join(dir, file), { force: true });
      return dropped.length > 0;
    },
    /** Removes a session's files; its rows are swept afterwards. */
    drop(sessionId: string): void {
      for (const file of store.artifacts.filesOf(sessionId)) rmSync(join(dir, file), { force: true });
    },
    /** Removes orphaned files, which a crash left without a row. Call before any artifact is written. */
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
