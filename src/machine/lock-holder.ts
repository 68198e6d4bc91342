import { readdirSync, readFileSync, statSync, type BigIntStats } from 'node:fs';
import { join } from 'node:path';
import { readProcess, type ProcessIdentity } from './process-identity.js';

/** The process that holds the lock of a state directory: its daemon, even if that hangs. */
export interface LockHolder extends ProcessIdentity {
  /** Suspended by a signal (SIGSTOP, ctrl-Z) or by a debugger. */
  stopped: boolean;
}

/**
 * Finds the holder of the lock in /proc/locks. Undefined when the lock is free, or when its holder is not visible (no /proc/locks, another
 * user's process, another pid namespace).
 */
export function findLockHolder(stateDir: string): LockHolder | undefined {
  const file = tryRead(() => statSync(join(stateDir, 'berth.lock'), { bigint: true }));
  const locks = tryRead(() => readFileSync('/proc/locks', 'latin1'));
  if (!file || locks === undefined) return undefined;
  for (const [, pid, inode] of locks.matchAll(/^\d+: POSIX +ADVISORY +WRITE +(\d+) [\da-f]+:[\da-f]+:(\d+) /gm)) {
    // Device numbers in /proc/locks differ from those of stat on some file systems, so the process's open files are compared.
    if (inode === String(file.ino) && hasOpen(Number(pid), file)) return describe(Number(pid));
  }
  return undefined;
}

/** Kills the holder of the lock, unless the lock is free or has another holder by now; then false. */
export function killLockHolder(stateDir: string, { pid, startTime }: LockHolder): boolean {
  const now = findLockHolder(stateDir);
  if (now?.pid !== pid || now.startTime !== startTime) return false;
  process.kill(pid, 'SIGKILL');
  return true;
}

function hasOpen(pid: number, file: BigIntStats): boolean {
  const names = tryRead(() => readdirSync(`/proc/${pid}/fd`)) ?? [];
  return names.some((name) => {
    const open = tryRead(() => statSync(`/proc/${pid}/fd/${name}`, { bigint: true }));
    return open?.ino === file.ino && open.dev === file.dev;
  });
}

function describe(pid: number): LockHolder | undefined {
  const found = readProcess(pid);
  return found && { pid, startTime: found.startTime, stopped: found.state === 'T' || found.state === 't' };
}

/** Undefined for a file of /proc that is missing or not readable. */
function tryRead<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (['ENOENT', 'ESRCH', 'EACCES', 'EPERM', 'ENOTDIR'].includes(String((error as NodeJS.ErrnoException).code))) return undefined;
    throw error;
  }
}
