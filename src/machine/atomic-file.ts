import {
  closeSync,
  constants,
  fchmodSync,
  fsyncSync,
  openSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { limits } from '../protocol/limits.js';

/** The mode of a file that only its owner may read. */
export const ownerOnly = 0o600;

/**
 * Replaces a file atomically and durably (write, fsync, rename): a reader, also after a crash, finds the old text or the new one. Call
 * while holding a lock; false when the lock turns out to be lost just before the rename.
 */
export function replaceFile(target: string, text: string, isLocked: () => boolean, mode = ownerOnly): boolean {
  removeLeftovers(target);
  const fresh = `${target}.${process.pid}.${Date.now()}.tmp`;
  let isRenamed = false;
  try {
    writeNewFile(fresh, text, mode);
    if (!isLocked()) return false;
    renameSync(fresh, target);
    isRenamed = true;
  } finally {
    if (!isRenamed) rmSync(fresh, { force: true });
  }
  syncDir(dirname(target));
  return true;
}

/** Writes a new file, with mode 0600 unless told, and fsyncs it. */
export function writeNewFile(file: string, text: string, mode = ownerOnly): void {
  const descriptor = openSync(file, 'wx', mode);
  try {
    // The umask may remove even the owner's bits.
    fchmodSync(descriptor, mode);
    writeFileSync(descriptor, text);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Removes temporary files of killed processes. Safe only under the lock, as no other process writes then. */
function removeLeftovers(target: string): void {
  const prefix = `${basename(target)}.`;
  for (const name of readdirSync(dirname(target))) {
    if (name.startsWith(prefix) && /^\d+\.\d+\.tmp$/.test(name.slice(prefix.length))) rmSync(join(dirname(target), name), { force: true });
  }
}

/** Fsyncs a directory, which makes a rename in it durable. */
export function syncDir(dir: string): void {
  const descriptor = openSync(dir, constants.O_RDONLY);
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** The target of a symlink, even when the target does not exist. A symlink loop is returned as is: opening it fails with ELOOP. */
export function targetOf(path: string): string {
  let found = path;
  for (let links = 0; links < limits.linkHopsMax; links++) {
    try {
      found = resolve(realpathSync(dirname(found)), readlinkSync(found));
    } catch (error) {
      const isNoLink = ['EINVAL', 'ENOENT'].includes((error as NodeJS.ErrnoException).code ?? '');
      if (isNoLink) return found;
      throw error;
    }
  }
  return path;
}
