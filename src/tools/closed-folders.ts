import { constants, type BigIntStats, type Dirent } from 'node:fs';
import { chmod, lstat, open, opendir, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setImmediate as giveWay } from 'node:timers/promises';
import { toBuffer, waysTo, type BytePath } from './byte-paths.js';
import { isFault } from './file-paths.js';
import { O_PATH, through } from './pinned-files.js';

/** What the owner of a directory needs to go through it, to list it, and to rename what is in it. */
const toEnter = 0o100;
const toList = 0o500;
const toRename = 0o700;
const allRights = 0o7777;
const namesAtOnce = 512;

export interface Entry {
  name: BytePath;
  isFolder: boolean;
}

/** Whether the system has said it, and it is not a mistake of ours. */
export function isOfSystem(error: unknown): boolean {
  return error instanceof Error && /^E[A-Z0-9]+$/.test((error as NodeJS.ErrnoException).code ?? '');
}

/** Whether nothing is there any more. */
export function isGone(error: unknown): boolean {
  return isFault(error, 'ENOENT', 'ENOTDIR');
}

/**
 * Looks into directories, also into those of this user that nobody may list or enter: they get their rights back at the end.
 * Throws what the system says.
 */
export function createOpener() {
  const opened: { path: BytePath; ino: bigint; mode: number }[] = [];

  async function change(path: BytePath, mode: number, ino?: bigint): Promise<void> {
    // Whoever puts a link there meanwhile does not get what it leads to changed.
    const pin = await open(toBuffer(path), O_PATH | constants.O_NOFOLLOW | constants.O_DIRECTORY);
    try {
      if (ino === undefined || (await pin.stat({ bigint: true })).ino === ino) await chmod(through(pin), mode);
    } finally {
      await pin.close();
    }
  }

  /** Opens what is closed on the way to a path, and the path itself for more. False when nothing was. */
  async function openWay(path: BytePath, rights: number): Promise<boolean> {
    const before = opened.length;
    for (const at of waysTo(path)) {
      const stat = await lstat(toBuffer(at), { bigint: true });
      const mode = Number(stat.mode) & allRights;
      const needed = at === path ? rights : toEnter;
      if (!stat.isDirectory() || stat.uid !== BigInt(process.geteuid?.() ?? -1) || (mode & needed) === needed) continue;
      await change(at, mode | needed);
      opened.push({ path: at, ino: stat.ino, mode });
    }
    return opened.length > before;
  }

  async function despiteRights<T>(path: BytePath, rights: number, act: () => Promise<T>): Promise<T> {
    try {
      return await act();
    } catch (error) {
      if (!isFault(error, 'EACCES', 'EPERM') || !(await openWay(path, rights))) throw error;
      return act();
    }
  }

  /** The innermost first: the way to it must be open still. */
  async function close(which: (path: BytePath) => boolean): Promise<void> {
    for (const one of opened.filter(({ path }) => which(path)).reverse()) {
      opened.splice(opened.indexOf(one), 1);
      try {
        await change(one.path, one.mode, one.ino);
      } catch (error) {
        // It is gone, or another's by now.
        if (!isOfSystem(error)) throw error;
      }
    }
  }

  return {
    look: (path: BytePath): Promise<BigIntStats> => despiteRights(path, 0, () => lstat(toBuffer(path), { bigint: true })),
    /** Everything that is in a directory, one after the other: there may be more than anyone wants to hold. True from `take` ends it. */
    async each(path: BytePath, take: (entry: Entry) => boolean): Promise<void> {
      // As bytes, which the types do not know of.
      const options = { encoding: 'buffer' as BufferEncoding, bufferSize: namesAtOnce };
      const folder = await despiteRights(path, toList, () => opendir(toBuffer(path), options));
      try {
        for (let count = 1; ; count++) {
          // Most directories are small, and are read several times faster this way.
          const entry = folder.readSync() as Dirent | Dirent<Buffer> | null;
          if (entry === null) return;
          const name = typeof entry.name === 'string' ? entry.name : entry.name.toString('latin1');
          if (take({ name, isFolder: entry.isDirectory() })) return;
          if (count % namesAtOnce === 0) await giveWay();
        }
      } finally {
        folder.closeSync();
      }
    },
    rename: (from: BytePath, to: BytePath): Promise<void> =>
      despiteRights(dirname(from), toRename, () => rename(toBuffer(from), toBuffer(to))),
    /** What was opened at or below a path gets its rights back. */
    closeBelow: (path: BytePath): Promise<void> => close((one) => one === path || one.startsWith(`${path}/`)),
    [Symbol.asyncDispose]: (): Promise<void> => close(() => true),
  };
}
export type Opener = ReturnType<typeof createOpener>;

/** So many entries of a directory and no more; none when it is gone. */
export async function entriesOf(opener: Opener, path: BytePath, max: number): Promise<Entry[]> {
  const found: Entry[] = [];
  try {
    await opener.each(path, (entry) => found.push(entry) >= max);
  } catch (error) {
    if (!isGone(error)) throw error;
  }
  return found;
}
