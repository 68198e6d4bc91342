import { dirname } from 'node:path';
import { findLateCode, holdLateCode, nothingHeld, type HeldCode } from './late-code.js';

/** Whether programs would run what is written to a path. */
export type RunsLater = (path: string) => boolean;

/** What a command in the sandbox found there, and is not to add to. Kept, so that it holds after a crash as well. */
export interface LateCodeRecord {
  roots: readonly string[];
  before: string[];
}

export interface LateCodeWatch {
  /** Undefined for a command that may write where it likes. */
  record(): LateCodeRecord | undefined;
  /** Calls back when others were allowed to add to what was there. */
  onMore(tell: () => void): void;
  /** Puts aside what is new. */
  end(): Promise<HeldCode>;
  /** Nothing was started after all. */
  drop(): void;
}

interface Watched {
  roots: readonly string[];
  before: Set<string>;
  tellMore(): void;
}

/**
 * Looks after the places where code waits to be run, while commands run that may not write there. What a person has allowed to others
 * meanwhile is left alone.
 */
export function createLateCodeWatches() {
  const open = new Set<Watched>();

  function know(watched: Watched, paths: Iterable<string>): void {
    // What has ended meanwhile is not noted again.
    if (!open.has(watched)) return;
    const before = watched.before.size;
    for (const path of paths) watched.before.add(path);
    if (watched.before.size > before) watched.tellMore();
  }

  /** Around a command in the sandbox. */
  async function confine(roots: readonly string[], runsLater: RunsLater): Promise<LateCodeWatch> {
    const watched: Watched = { roots, before: await findLateCode(roots, runsLater), tellMore: () => undefined };
    open.add(watched);
    return {
      record: () => ({ roots, before: [...watched.before] }),
      onMore: (tell) => void (watched.tellMore = tell),
      async end() {
        const after = await findLateCode(roots, runsLater);
        open.delete(watched);
        return holdLateCode(watched.before, after);
      },
      drop: () => void open.delete(watched),
    };
  }

  /** Around a command that a person let out of the sandbox. */
  async function release(runsLater: RunsLater): Promise<LateCodeWatch> {
    const others = [...open];
    const before = await Promise.all(others.map(({ roots }) => findLateCode(roots, runsLater)));
    return {
      record: () => undefined,
      onMore: () => undefined,
      async end() {
        for (const [i, watched] of others.entries()) {
          const after = await findLateCode(watched.roots, runsLater);
          know(
            watched,
            [...after].filter((path) => !before[i]?.has(path)),
          );
        }
        return nothingHeld;
      },
      drop: () => undefined,
    };
  }

  return {
    confine,
    release,
    /** A file was written that a person has approved. */
    approve(path: string): void {
      const made: string[] = [];
      for (let at = path; at !== dirname(at); at = dirname(at)) made.push(at);
      for (const watched of open) know(watched, made);
    },
  };
}

/** What a daemon could not do any more when it was killed. */
export async function holdLeftCode({ roots, before }: LateCodeRecord, runsLater: RunsLater): Promise<HeldCode> {
  return holdLateCode(new Set(before), await findLateCode(roots, runsLater));
}
