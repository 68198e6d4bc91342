import { lstatSync, opendirSync, readdirSync, type Dirent, type Stats } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTick } from 'node:timers/promises';
import { limits } from '../../protocol/limits.js';
import { isSystemError } from '../../machine/system-calls.js';
import { readHooksPath } from './git-hooks-path.js';

/** `protected` is read-only for commands where it exists; `instructions` are what agents follow, and may be written. */
export type AutorunKind = 'protected' | 'instructions';

/** What an entry of a directory is to programs and agents that find it there later; undefined for everything else. */
export type AutorunKindOf = (folder: string, name: string) => AutorunKind | undefined;

/** What was in the writable directories before a command ran. */
export interface AutorunLook {
  /** Existing files and directories that are to be read-only for the command, the nearest first. */
  readOnly: string[];
  /** Paths of files that programs run or agents follow and that are new, and of those that could be changed and were. */
  findNew(): Promise<string[]>;
}

const skippedFolders = new Set(['node_modules']);
/** In a git directory: nothing in them is run, and there are many. */
const gitStores = new Set(['objects', 'refs', 'logs', 'lfs']);
const namesAtOnce = 512;

interface Found {
  kind: AutorunKind;
  changedMs: number;
  /** In a linked worktree or a submodule, which git removes and makes again as a whole: nothing in it can be mounted. */
  isCheckout: boolean;
}

interface Walk {
  found: Map<string, Found>;
  /** Directories that were listed to their end, with their time of change: a new name in them sets it. */
  listed: Map<string, { changedMs: number; isCheckout: boolean }>;
  /** Directories below those, listed or not. */
  seen: Set<string>;
}

/**
 * Looks for files that programs run or agents follow, in so many entries, the nearest first. What cannot be listed is left out.
 * The second look lists only directories that changed, and new ones.
 */
export async function lookForAutorun(roots: readonly string[], kindOf: AutorunKindOf): Promise<AutorunLook> {
  const before: Walk = { found: new Map(), listed: new Map(), seen: new Set(roots) };
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
      const after: Walk = { found: new Map(), listed: new Map(), seen: before.seen };
      const touched = [...before.listed].filter(([path, { changedMs }]) => statOf(path)?.ctimeMs !== changedMs);
      await walk(
        touched.map(([path, { isCheckout }]) => ({ path, isCheckout })),
        kindOf,
        after,
      );
      const made = [...after.found.keys()].filter((path) => !before.found.has(path));
      const changed = [...before.found].filter(([path, found]) => isChanged(path, found)).map(([path]) => path);
      return [...made, ...changed].filter((path) => !path.endsWith('/hooks') || hasHooks(path));
    },
  };
}

/** Instructions may be written like any other text. */
function isChanged(path: string, { kind, changedMs }: Found): boolean {
  if (kind === 'instructions') return false;
  const stat = statOf(path);
  return stat !== undefined && stat.ctimeMs !== changedMs;
}

/** A clone inside of the workspace whose hooks are samples can be removed like any other directory; a hook that is put there is told. */
function isUnusedHooks(path: string, roots: readonly string[]): boolean {
  return path.endsWith('/hooks') && !roots.some((root) => path === join(root, '.git', 'hooks')) && !hasHooks(path);
}

/** Whether git would run anything of it: a new repository has samples only. */
function hasHooks(folder: string): boolean {
  try {
    return readdirSync(folder).some((name) => !name.endsWith('.sample'));
  } catch (error) {
    if (isSystemError(error)) return true;
    throw error;
  }
}

/** Lists directories and those below them that were not seen before. */
async function walk(from: readonly Folder[], kindOf: AutorunKindOf, { found, listed, seen }: Walk): Promise<void> {
  let left: number = limits.autorunEntriesMax;
  let sinceTick = 0;
  const waiting = [...from];
  for (let next = 0; next < waiting.length && left > 0; next++) {
    const folder = waiting[next];
    // Before it is listed: what is made meanwhile is found by the second look.
    const stat = folder && statOf(folder.path);
    const entries = stat && list(folder.path, stat, left);
    if (!folder || !stat || !entries) continue;
    const isCheckout = folder.isCheckout || (next >= from.length && entries.some((entry) => entry.name === '.git' && !entry.isDirectory()));
    if (entries.length < left) listed.set(folder.path, { changedMs: stat.ctimeMs, isCheckout });
    left -= entries.length;
    const isGit = isGitFolder(entries);
    for (const entry of entries) {
      const { name } = entry;
      const kind = isGit && name === 'hooks' ? 'protected' : kindOf(folder.path, name);
      if (kind) {
        const changedMs = statOf(join(folder.path, name))?.ctimeMs;
        if (changedMs !== undefined) found.set(join(folder.path, name), { kind, changedMs, isCheckout });
      } else if (entry.isDirectory() && !skippedFolders.has(name) && !(isGit && gitStores.has(name))) {
        const path = join(folder.path, name);
        if (!seen.has(path)) waiting.push({ path, isCheckout });
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

/** A repository, whatever it is called: that of a worktree, of a submodule, or a bare one. */
function isGitFolder(entries: readonly Entry[]): boolean {
  return ['HEAD', 'objects', 'refs'].every((sign) => entries.some(({ name }) => name === sign));
}

type Entry = Pick<Dirent, 'name' | 'isDirectory'>;

/** So many entries and no more; undefined for what cannot be listed. */
function list(folder: string, { size }: Stats, max: number): Entry[] | undefined {
  try {
    // Several times faster, for a directory that cannot have very many entries.
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

function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}
