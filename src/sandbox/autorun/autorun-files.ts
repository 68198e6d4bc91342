import { lstatSync, opendirSync, readdirSync, type Dirent, type Stats } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTick } from 'node:timers/promises';
import { limits } from '../../protocol/limits.js';
import { isSystemError } from '../../machine/system-calls.js';
import { readHooksPath } from './git-hooks-path.js';

/** `protected` is read-only for commands where it exists; `instructions` are what agents follow, and may be written. */
export type AutorunKind = 'protected' | 'instructions';

/** Classifies a directory entry that programs run or agents follow automatically; undefined for everything else. */
export type AutorunKindOf = (folder: string, name: string) => AutorunKind | undefined;

/** A scan of the writable directories before a command runs. */
export interface AutorunScan {
  /** Existing files and directories that are to be read-only for the command, the nearest first. */
  readOnly: string[];
  /** Scans again: paths of new autorun files, and of protected ones that were changed. */
  findNew(): Promise<string[]>;
}

const skippedFolders = new Set(['node_modules']);
/** Subdirectories of a git directory with many files, none of which is executed. */
const gitStores = new Set(['objects', 'refs', 'logs', 'lfs']);
const namesAtOnce = 512;

interface AutorunFile {
  kind: AutorunKind;
  changedMs: number;
  /** In a linked worktree or a submodule, which git deletes and recreates as a whole: a mount point inside would block that. */
  isCheckout: boolean;
}

interface ScanState {
  found: Map<string, AutorunFile>;
  /** Completely listed directories with their ctime, which every new name in them changes. */
  listed: Map<string, { changedMs: number; isCheckout: boolean }>;
  /** Every directory that was found, listed or not. */
  seen: Set<string>;
}

/**
 * Scans for autorun files, which programs run or agents follow, breadth first up to a limit of entries. Unreadable directories are skipped.
 * The second scan lists only new directories and those with another ctime.
 */
export async function scanAutorun(roots: readonly string[], kindOf: AutorunKindOf): Promise<AutorunScan> {
  const before: ScanState = { found: new Map(), listed: new Map(), seen: new Set(roots) };
  await walk(
    roots.map((path) => ({ path, isCheckout: false })),
    kindOf,
    before,
  );
  const hooks: string[] = [];
  for (const folder of before.listed.keys()) {
    if (folder.endsWith('/.git')) hooks.push(...readHooksPath(folder, roots));
  }
  const existing = [...before.found]
    .filter(([path, { kind, isCheckout }]) => kind === 'protected' && !isCheckout && !isUnusedHooks(path, roots))
    .map(([path]) => path);
  return {
    readOnly: [...new Set([...hooks, ...existing])].slice(0, limits.autorunPathsMax),
    async findNew() {
      const after: ScanState = { found: new Map(), listed: new Map(), seen: before.seen };
      const touched = [...before.listed].filter(([path, { changedMs }]) => lstatIfReadable(path)?.ctimeMs !== changedMs);
      await walk(
        touched.map(([path, { isCheckout }]) => ({ path, isCheckout })),
        kindOf,
        after,
      );
      const created = [...after.found.keys()].filter((path) => !before.found.has(path));
      const changed = [...before.found].filter(([path, found]) => isChanged(path, found)).map(([path]) => path);
      return [...created, ...changed].filter((path) => !path.endsWith('/hooks') || hasHooks(path));
    },
  };
}

/** Instructions are no protected files: commands may write them. */
function isChanged(path: string, { kind, changedMs }: AutorunFile): boolean {
  if (kind === 'instructions') return false;
  const stat = lstatIfReadable(path);
  return stat !== undefined && stat.ctimeMs !== changedMs;
}

/** The hooks directory of a nested clone with sample hooks only stays writable, so that the clone can be deleted; a new hook in it is reported. */
function isUnusedHooks(path: string, roots: readonly string[]): boolean {
  return path.endsWith('/hooks') && !roots.some((root) => path === join(root, '.git', 'hooks')) && !hasHooks(path);
}

/** Whether a hooks directory has a hook that git would run: a new repository has `.sample` files only. */
function hasHooks(folder: string): boolean {
  try {
    return readdirSync(folder).some((name) => !name.endsWith('.sample'));
  } catch (error) {
    if (isSystemError(error)) return true;
    throw error;
  }
}

/** Lists directories and their unseen subdirectories, breadth first. */
async function walk(from: readonly Folder[], kindOf: AutorunKindOf, { found, listed, seen }: ScanState): Promise<void> {
  let entriesLeft: number = limits.autorunEntriesMax;
  let sinceTick = 0;
  const queue = [...from];
  for (let next = 0; next < queue.length && entriesLeft > 0; next++) {
    const folder = queue[next];
    // stat before listing: a file that is created in between changes the ctime, and the second scan finds it.
    const stat = folder && lstatIfReadable(folder.path);
    const entries = stat && list(folder.path, stat, entriesLeft);
    if (!folder || !stat || !entries) continue;
    const isCheckout = folder.isCheckout || (next >= from.length && entries.some((entry) => entry.name === '.git' && !entry.isDirectory()));
    if (entries.length < entriesLeft) listed.set(folder.path, { changedMs: stat.ctimeMs, isCheckout });
    entriesLeft -= entries.length;
    const isGit = isGitFolder(entries);
    for (const entry of entries) {
      const { name } = entry;
      const kind = isGit && name === 'hooks' ? 'protected' : kindOf(folder.path, name);
      if (kind) {
        const changedMs = lstatIfReadable(join(folder.path, name))?.ctimeMs;
        if (changedMs !== undefined) found.set(join(folder.path, name), { kind, changedMs, isCheckout });
      } else if (entry.isDirectory() && !skippedFolders.has(name) && !(isGit && gitStores.has(name))) {
        const path = join(folder.path, name);
        if (!seen.has(path)) queue.push({ path, isCheckout });
        seen.add(path);
      }
    }
    sinceTick += entries.length + 1;
    if (sinceTick >= namesAtOnce) {
      sinceTick = 0;
      await nextTick();
    }
  }
}

interface Folder {
  path: string;
  isCheckout: boolean;
}

/** Detects a git directory under any name: of a worktree, of a submodule, or a bare repository. */
function isGitFolder(entries: readonly Entry[]): boolean {
  return ['HEAD', 'objects', 'refs'].every((sign) => entries.some(({ name }) => name === sign));
}

type Entry = Pick<Dirent, 'name' | 'isDirectory'>;

/** Up to `max` entries of a directory; undefined when the directory cannot be listed. */
function list(folder: string, { size }: Stats, max: number): Entry[] | undefined {
  try {
    // readdir is several times faster than opendir; the size of the directory bounds its number of entries.
    if (size <= limits.autorunFolderBytesMax) return readdirSync(folder, { withFileTypes: true }).slice(0, max);
    const entries: Entry[] = [];
    const handle = opendirSync(folder, { bufferSize: namesAtOnce });
    try {
      for (let entry = handle.readSync(); entry !== null && entries.length < max; entry = handle.readSync()) entries.push(entry);
    } finally {
      handle.closeSync();
    }
    return entries;
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}

function lstatIfReadable(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}
