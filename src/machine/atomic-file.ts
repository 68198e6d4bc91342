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
 * Replaces a file of our own in one step: whoever reads and whatever dies finds the old text or the new one, and it is on disk.
 * Only for whoever has a lock; false when it turns out to be lost just before the step.
 */
export function replaceFile(target: string, text: string, isLocked: () => boolean): boolean {
  removeLeftovers(target);
  const fresh = `${target}.${process.pid}.${Date.now()}.tmp`;
  let kept = false;
  try {
    writeNewFile(fresh, text);
    if (!isLocked()) return false;
    renameSync(fresh, target);
    kept = true;
  } finally {
    if (!kept) rmSync(fresh, { force: true });
  }
  syncDir(dirname(target));
  return true;
}

/** Writes a file that is not there yet, for its owner alone, and to the disk. */
export function writeNewFile(file: string, text: string): void {
  const descriptor = openSync(file, 'wx', ownerOnly);
  try {
    // A umask may take away even the owner's rights.
    fchmodSync(descriptor, ownerOnly);
    writeFileSync(descriptor, text);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** What a process that was killed had written so far: nobody else may be writing now. */
function removeLeftovers(target: string): void {
  const prefix = `${basename(target)}.`;
  for (const name of readdirSync(dirname(target))) {
    if (name.startsWith(prefix) && /^\d+\.\d+\.tmp$/.test(name.slice(prefix.length))) rmSync(join(dirname(target), name), { force: true });
  }
}

/** Makes what was renamed in a directory durable. */
export function syncDir(dir: string): void {
  const descriptor = openSync(dir, constants.O_RDONLY);
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** The file that a link means, even when it is not there yet. A circle of links is for whoever opens it to complain about. */
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
