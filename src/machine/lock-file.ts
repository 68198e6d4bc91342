import { closeSync, fstatSync, openSync, rmSync, statSync } from 'node:fs';

/** A lock file, made with O_EXCL. */
export interface LockFile {
  /** False once another process removed it as stale. */
  isHeld(): boolean;
  release(): void;
}

/** Acquires a lock file; undefined while another process holds it. A lock older than `staleMs` is stale (a crash) and is removed. */
export function takeLockFile(file: string, staleMs: number): LockFile | undefined {
  removeStale(file, staleMs);
  const descriptor = make(file);
  if (descriptor === undefined) return undefined;
  const isHeld = (): boolean => fstatSync(descriptor).nlink > 0;
  return {
    isHeld,
    release() {
      if (isHeld()) rmSync(file, { force: true });
      closeSync(descriptor);
    },
  };
}

/** Removal has a lock of its own: of two processes that see a stale lock, the slower would remove the faster one's new lock. */
function removeStale(file: string, staleMs: number): void {
  if (!isStale(file, staleMs)) return;
  const removing = `${file}.stale`;
  const descriptor = make(removing);
  if (descriptor === undefined) {
    if (isStale(removing, staleMs)) rmSync(removing, { force: true });
    return;
  }
  try {
    if (isStale(file, staleMs)) rmSync(file, { force: true });
  } finally {
    rmSync(removing, { force: true });
    closeSync(descriptor);
  }
}

/** A lock from the future is stale, too: it was made before the clock was set back. */
function isStale(file: string, staleMs: number): boolean {
  const made = statSync(file, { throwIfNoEntry: false })?.mtimeMs;
  return made !== undefined && Math.abs(Date.now() - made) > staleMs;
}

function make(file: string): number | undefined {
  try {
    return openSync(file, 'wx', 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return undefined;
    throw error;
  }
}
