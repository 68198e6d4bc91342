import { posix } from 'node:path';
import { findIgnoreFifo } from './ignore-files.js';
import { createWalk, type WalkOptions } from './walk.js';

const tuning = {
  /** How long a program that searches may be silent before ignore files that could block it are looked for. */
  silentMs: 250,
} as const;

export interface FifoWatch {
  /** To be called when the program that searches has said something. */
  postpone(): void;
  /** The path, relative to the root, of the FIFO that was found. */
  found(): string | undefined;
  stop(): void;
}

/**
 * Watches a program that reads the ignore files below a directory by name, and blocks for ever on one that is a FIFO. They are looked for
 * only once the program is silent, because most searches end before that.
 */
export function watchForFifos(where: Pick<WalkOptions, 'root' | 'workspace' | 'refuses'>, onFound: () => void): FifoWatch {
  const stopped = new AbortController();
  let found: string | undefined;
  let isLooking = false;
  const timer = setTimeout(() => void look(), tuning.silentMs);

  function enter(directory: string): boolean {
    if (found !== undefined) return false;
    const name = findIgnoreFifo(posix.join(where.root, directory));
    if (name !== undefined) found = posix.join(directory, name);
    return found === undefined;
  }

  async function look(): Promise<void> {
    isLooking = true;
    const walk = createWalk({ ...where, signal: stopped.signal, enter });
    if (enter('')) for await (const _ of walk.files()) if (found !== undefined) break;
    if (found !== undefined && !stopped.signal.aborted) onFound();
  }

  return {
    postpone() {
      if (!isLooking) timer.refresh();
    },
    found: () => found,
    stop() {
      clearTimeout(timer);
      stopped.abort();
    },
  };
}
