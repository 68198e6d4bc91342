import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { limits } from '../protocol/limits.js';
import { ownerOnly, replaceFile, targetOf } from './atomic-file.js';
import { takeLockFile } from './lock-file.js';
import { makeDir } from './make-dir.js';

const tuning = { pollMs: 20 } as const;

/**
 * Replaces a file under a lock, through a link that it may be: the lock and the new file stand beside its target. `edit` returns the new
 * text, or undefined to leave the file alone, and may be called several times.
 */
export async function changeFile(
  path: string,
  edit: (target: string) => string | undefined,
  modeOf: (target: string) => number = () => ownerOnly,
): Promise<'written' | 'same' | 'locked'> {
  const deadline = performance.now() + 2 * limits.authLockMs;
  makeDir(dirname(path));
  const target = targetOf(path);
  do {
    const lock = takeLockFile(`${target}.lock`, limits.authLockMs);
    if (!lock) {
      await delay(tuning.pollMs);
      continue;
    }
    try {
      const text = edit(target);
      if (text === undefined) return 'same';
      if (replaceFile(target, text, lock.isHeld, modeOf(target))) return 'written';
    } finally {
      lock.release();
    }
  } while (performance.now() < deadline);
  return 'locked';
}
