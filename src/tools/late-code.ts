import type { Dirent, Stats } from 'node:fs';
import { chmod, lstat, readdir, readFile, rename } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { limits } from '../protocol/limits.js';

/** Where nobody looks for them, and there are too many files. */
const skipped = new Set(['node_modules']);
const gitStores = new Set(['objects', 'refs', 'logs', 'lfs']);
/** In a git directory, whatever it is called: git runs what they say. */
const gitLate = new Set(['config', 'config.worktree', 'commondir', 'hooks', 'info']);
/** Settings of git that name a program, another file or another host. A repository that was just made has none of them. */
const gitDeeds =
  /hookspath|fsmonitor|sshcommand|pager|editor|askpass|textconv|external|command|clean|smudge|process|driver|helper|gpg|include|alias|pack\b|insteadof|proxy|worktree|\[(?:filter|diff|merge)\b/i;

/**
 * Paths below some directories that programs run, or agents follow, when they are written. Goes through so many entries and no more,
 * the nearest first.
 */
export async function findLateCode(roots: readonly string[], runsLater: (path: string) => boolean): Promise<Set<string>> {
  const found = new Set<string>();
  let waiting = [...roots];
  let looked = 0;
  while (waiting.length > 0 && looked < limits.lateCodeEntriesMax) {
    const next: string[] = [];
    for (const folder of waiting) {
      if (looked >= limits.lateCodeEntriesMax) break;
      const entries = await entriesOf(folder);
      looked += entries.length;
      const isGit = isGitFolder(entries);
      for (const entry of entries) {
        const path = join(folder, entry.name);
        const isLink = entry.name === '.git' && !entry.isDirectory();
        if (isLink || (isGit && gitLate.has(entry.name)) || runsLater(path)) found.add(path);
        else if (entry.isDirectory() && !skipped.has(entry.name) && !(isGit && gitStores.has(entry.name))) next.push(path);
      }
    }
    waiting = next;
  }
  return found;
}

async function entriesOf(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if (error instanceof Error && 'code' in error) return [];
    throw error;
  }
}

function isGitFolder(entries: readonly Dirent[]): boolean {
  const names = new Set(entries.map(({ name }) => name));
  return names.has('HEAD') && names.has('objects') && names.has('refs');
}

/** What became of code that nobody was asked about. */
export interface HeldCode {
  /** How it is called now. */
  renamed: string[];
  /** It is still where it was. */
  stuck: string[];
}

export const nothingHeld: HeldCode = { renamed: [], stuck: [] };

/** Takes what is new out of the way of those programs: it is kept under another name beside it. */
export async function holdLateCode(before: ReadonlySet<string>, after: ReadonlySet<string>): Promise<HeldCode> {
  const held: HeldCode = { renamed: [], stuck: [] };
  for (const path of after) {
    if (before.has(path) || (await isHarmless(path))) continue;
    const name = await freeName(path);
    try {
      await renameAnyway(path, name);
      held.renamed.push(name);
    } catch (error) {
      if (!(error instanceof Error && 'code' in error)) throw error;
      if (error.code !== 'ENOENT') held.stuck.push(path);
    }
  }
  return held;
}

/** A directory may have been made read-only, so that what is in it stays. */
async function renameAnyway(path: string, name: string): Promise<void> {
  try {
    await rename(path, name);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && (error.code === 'EACCES' || error.code === 'EPERM'))) throw error;
    const folder = dirname(path);
    const { mode } = await lstat(folder);
    await chmod(folder, mode | 0o700);
    await rename(path, name).finally(() => chmod(folder, mode));
  }
}

/** What `git init` and `git clone` write. */
async function isHarmless(path: string): Promise<boolean> {
  const stat = await lookAt(path);
  if (!stat) return true;
  const name = basename(path);
  if (stat.isDirectory() && (name === 'hooks' || name === 'info')) {
    const names = (await entriesOf(path)).map((entry) => entry.name);
    return names.every((one) => (name === 'hooks' ? one.endsWith('.sample') : one === 'exclude'));
  }
  if (name !== 'config' || !stat.isFile() || stat.size > limits.workspaceConfigBytesMax) return false;
  return isGitFolder(await entriesOf(dirname(path))) && !gitDeeds.test(await readFile(path, 'utf8'));
}

async function freeName(path: string): Promise<string> {
  for (let n = 1; ; n++) {
    const name = join(dirname(path), `held-by-berth-${n}-${basename(path).replace(/^\.+/, '')}`);
    if (!(await lookAt(name))) return name;
  }
}

/** Undefined when there is nothing. */
async function lookAt(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path);
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return undefined;
    throw error;
  }
}
