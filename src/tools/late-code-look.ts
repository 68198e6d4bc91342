import { limits } from '../protocol/limits.js';
import { toBytePath, toText, type BytePath } from './byte-paths.js';
import { isGone, isOfSystem, type Opener } from './closed-folders.js';
import { gitLate, gitNames, gitStores, seesGitFolder } from './git-folders.js';
import { placeOf, stampPath, type Stamp } from './late-code-stamps.js';

/** Where nobody looks for them, and there are too many files. */
const skipped = new Set(['node_modules']);

/** Whether programs would run what is written to a path. */
export type RunsLater = (path: string) => boolean;

/** What programs run, or agents follow. */
export interface LateCode extends Stamp {
  path: BytePath;
  /** A directory that nobody can look into, so that nobody knows. */
  isShut: boolean;
}

export interface Look {
  /** By path, the nearest first. */
  found: ReadonlyMap<BytePath, LateCode>;
  /** Nothing was left out. */
  isWhole: boolean;
}

/**
 * Late code below some directories. Goes through so many entries and a few more, the nearest first: a directory that is begun is listed to its
 * end, and those of git always are.
 */
export async function lookForLateCode(
  opener: Opener,
  roots: readonly string[],
  runsLater: RunsLater,
  entriesMax: number = limits.lateCodeEntriesMax,
): Promise<Look> {
  const found = new Map<BytePath, LateCode>();
  let waiting = roots.map(toBytePath);
  let looked = 0;
  let isWhole = true;
  while (waiting.length > 0) {
    const next: BytePath[] = [];
    for (const folder of waiting) {
      if (looked >= entriesMax && !isGitName(nameOf(folder))) {
        isWhole = false;
        continue;
      }
      try {
        const { late, folders, count, isCut } = await readFolder(opener, folder, runsLater, entriesMax - looked);
        looked += count;
        for (const path of late) await note(opener, found, path);
        for (const path of folders) next.push(path);
        if (isCut) isWhole = false;
      } catch (error) {
        if (isGone(error)) continue;
        if (!isOfSystem(error)) throw error;
        found.set(folder, await shut(opener, folder, true));
      }
    }
    waiting = next;
  }
  return { found, isWhole };
}

function nameOf(path: BytePath): BytePath {
  return path.slice(path.lastIndexOf('/') + 1);
}

function isGitName(name: BytePath): boolean {
  return name.toLowerCase() === '.git';
}

interface Listing {
  late: BytePath[];
  folders: BytePath[];
  count: number;
  /** There are more of them than are remembered. */
  isCut: boolean;
}

/** Of a directory with any number of entries only those are remembered that matter. */
async function readFolder(opener: Opener, folder: BytePath, runsLater: RunsLater, foldersMax: number): Promise<Listing> {
  const late: BytePath[] = [];
  const ofGit = new Map<BytePath, boolean>();
  const folders: BytePath[] = [];
  let isCut = false;
  let count = 0;
  const keep = (name: BytePath): void => {
    if (folders.length < foldersMax || isGitName(name)) folders.push(`${folder}/${name}`);
    else isCut = true;
  };
  await opener.each(folder, ({ name, isFolder }) => {
    count++;
    if ((isGitName(name) && !isFolder) || runsLater(toText(`${folder}/${name}`))) {
      // One name can be written in more ways than anyone means to.
      if (late.length < limits.lateCodeEntriesMax) late.push(`${folder}/${name}`);
      else isCut = true;
    } else if (gitNames.has(name)) ofGit.set(name, isFolder);
    else if (isFolder && !skipped.has(name)) keep(name);
    return false;
  });
  const isGit = seesGitFolder(new Set([...ofGit.keys(), ...late.map(nameOf)]));
  for (const [name, isFolder] of ofGit) {
    if (isGit && gitLate.has(name)) late.push(`${folder}/${name}`);
    else if (isFolder && !(isGit && gitStores.has(name))) keep(name);
  }
  return { late, folders, count, isCut };
}

async function note(opener: Opener, found: Map<BytePath, LateCode>, path: BytePath): Promise<void> {
  try {
    const stamp = await stampPath(opener, path);
    if (stamp) found.set(path, { ...stamp, path, isShut: false });
  } catch (error) {
    if (!isOfSystem(error)) throw error;
    found.set(path, await shut(opener, path, false));
  }
}

/** Known again by where it is and which it is. */
async function shut(opener: Opener, path: BytePath, isShut: boolean): Promise<LateCode> {
  const stat = await opener.look(path).catch((error: unknown) => {
    if (!isOfSystem(error)) throw error;
    return undefined;
  });
  const id = `${placeOf(path)}:${stat?.ino ?? ''}`;
  return { path, isShut, stamp: id, id, newestNs: stat?.ctimeNs ?? BigInt(Date.now()) * nsPerMs, isLinked: true, hasMore: true };
}

export const nsPerMs = 1_000_000n;
