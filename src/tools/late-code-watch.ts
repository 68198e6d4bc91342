import { dirname } from 'node:path';
import { limits } from '../protocol/limits.js';
import { isText, toBytePath, toText, waysTo, type BytePath } from './byte-paths.js';
import { createOpener, isOfSystem } from './closed-folders.js';
import { nothingHeld, type HeldCode } from './late-code.js';
import {
  fromRecord,
  holdUnknown,
  knowCode,
  learnStamp,
  stampBeside,
  toRecord,
  type KnownCode,
  type LateCodeRecord,
} from './late-code-known.js';
import { lookForLateCode, type LateCode, type Look, type RunsLater } from './late-code-look.js';

export interface LateCodeWatch {
  /** What was there before, as far as it can be named. */
  paths(): string[];
  /** These paths are read-only for the command. Call right before it starts. */
  seal(paths: readonly string[]): void;
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
  known: KnownCode;
  runsLater: RunsLater;
  tellMore(): void;
}

/**
 * Looks after the places where code waits to be run, while commands run that may not write there. What a person has allowed to others
 * meanwhile is left alone.
 */
export function createLateCodeWatches() {
  const open = new Set<Watched>();
  /** Those that look before they start, too. */
  const confined = new Set<symbol>();
  const isAlone = (): boolean => confined.size === 1;

  async function look(roots: readonly string[], runsLater: RunsLater): Promise<Look> {
    await using opener = createOpener();
    return await lookForLateCode(opener, roots, runsLater);
  }

  /** Around a command in the sandbox. */
  async function confine(roots: readonly string[], runsLater: RunsLater): Promise<LateCodeWatch> {
    const self = Symbol('confined');
    confined.add(self);
    const wasAlone = isAlone();
    let before: Look;
    try {
      before = await look(roots, runsLater);
    } catch (error) {
      confined.delete(self);
      throw error;
    }
    const watched: Watched = { known: knowCode(roots, before), runsLater, tellMore: () => undefined };
    open.add(watched);
    const drop = (): void => {
      open.delete(watched);
      confined.delete(self);
    };
    return {
      paths: () => [...before.found.values()].filter(({ path, isShut }) => !isShut && isText(path)).map(({ path }) => toText(path)),
      seal(paths) {
        const nobodyMoves = wasAlone && isAlone();
        for (const late of paths.map((path) => before.found.get(toBytePath(path)))) {
          if (late && !late.isLinked && (nobodyMoves || staysPut(late, roots))) watched.known.sealed.add(late.id);
        }
      },
      record: () => toRecord(watched.known),
      onMore: (tell) => void (watched.tellMore = tell),
      async end() {
        try {
          return await holdUnknown(watched.known, runsLater);
        } finally {
          drop();
        }
      },
      drop,
    };
  }

  /** Around a command that a person let out of the sandbox. */
  async function release(runsLater: RunsLater): Promise<LateCodeWatch> {
    const others = [...open];
    const before = await Promise.all(others.map(({ known }) => look(known.roots, runsLater)));
    return {
      paths: () => [],
      seal: () => undefined,
      record: () => undefined,
      onMore: () => undefined,
      async end() {
        for (const [i, watched] of others.entries()) {
          const old = new Set([...(before[i]?.found.values() ?? [])].map(({ stamp }) => stamp));
          const { found } = await look(watched.known.roots, runsLater);
          const more = [...found.values()].filter(({ stamp }) => !old.has(stamp));
          // What has ended meanwhile is not noted again.
          if (more.length === 0 || !open.has(watched)) continue;
          for (const { stamp } of more) learnStamp(watched.known, stamp);
          watched.tellMore();
        }
        return nothingHeld;
      },
      drop: () => undefined,
    };
  }

  /** Leaves a file alone while it is written, and then as long as it is what was written. */
  async function approveFor(watched: Watched, file: BytePath): Promise<(digest: string | undefined) => void> {
    const { known, runsLater } = watched;
    const top = waysTo(file).find((path) => isInside(path, known.roots) && runsLater(toText(path))) ?? file;
    known.writing.push(top);
    watched.tellMore();
    const beside = top === file ? undefined : await besideOf(known, top, file);
    return (digest) => {
      known.writing.splice(known.writing.indexOf(top), 1);
      if (digest !== undefined && (top === file || beside !== undefined)) {
        known.approved.delete(file);
        if (known.approved.size < limits.lateCodeStampsMax) known.approved.set(file, digest);
        if (beside !== undefined) learnStamp(known, beside);
      }
      if (open.has(watched)) watched.tellMore();
    };
  }

  return {
    confine,
    release,
    /** A file is about to be written that a person has approved. What is returned is told what was written, if anything was. */
    async approve(path: string): Promise<(digest: string | undefined) => void> {
      const file = toBytePath(path);
      const those = [...open].filter(({ known }) => isInside(file, known.roots));
      const settle = await Promise.all(those.map((watched) => approveFor(watched, file)));
      return (digest) => {
        for (const tell of settle) tell(digest);
      };
    },
  };
}

function isInside(path: BytePath, roots: readonly string[]): boolean {
  return roots.some((root) => path.startsWith(`${toBytePath(root)}/`));
}

/** Undefined when it cannot be said, or is not what it was: then it is held with what is written to it. */
async function besideOf(known: KnownCode, top: BytePath, file: BytePath): Promise<string | undefined> {
  try {
    return (await stampBeside(known, top, file))?.stamp;
  } catch (error) {
    if (isOfSystem(error)) return undefined;
    throw error;
  }
}

/** Other commands that run at the same time cannot move it away until this one has started. */
function staysPut({ path }: LateCode, roots: readonly string[]): boolean {
  return roots.map(toBytePath).some((root) => [root, `${root}/.git`].includes(dirname(path)));
}

/** What a daemon could not do any more when it was killed. */
export async function holdLeftCode(record: LateCodeRecord, runsLater: RunsLater): Promise<HeldCode> {
  return holdUnknown(fromRecord(record), runsLater);
}
