import { closeSync, fstatSync, openSync, rmSync, statSync } from 'node:fs';

/** A file that one process at a time has made. */
export interface LockFile {
  /** False once somebody else took it for a leftover. */
  isHeld(): boolean;
  release(): void;
}

/** Takes a lock; undefined while another has it. One that is older than `staleMs` was left by a process that died, and is taken over. */
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

/** Removing takes a lock of its own: of two who see the same leftover, the slower would remove what the faster has just made. */
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

/** One from the future was made before the clock was set back. */
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
