import { lstatSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { readSmallText } from '../machine/bounded-read.js';
import { limits } from '../protocol/limits.js';
import { isBelow, toRealPath } from './real-paths.js';

/** What git writes outside of a linked worktree while it works in it. Real paths. */
export interface WorktreeGit {
  /** Directories of its own, and those of the repository for objects, branches and their logs. */
  writable: string[];
  /** In these: what says where the repository is, and so which hooks and settings count. */
  readOnly: string[];
}

/**
 * The directories for a workspace that was made with `git worktree add`. What its `.git` file says counts only if the repository says the same
 * from its side: commands can write the one, but not the other.
 */
export function findWorktreeGit(workspace: string): WorktreeGit | undefined {
  const link = join(workspace, '.git');
  const named = /^gitdir: ([^\n]+)\n?$/.exec(readGitFile(link) ?? '')?.[1];
  const own = named === undefined ? undefined : toRealPath(resolve(workspace, named));
  if (own === undefined || basename(dirname(own)) !== 'worktrees') return undefined;
  const repository = dirname(dirname(own));
  if (isBelow(own, workspace) || isBelow(workspace, repository)) return undefined;
  const backlink = readGitFile(join(own, 'gitdir'))?.trim();
  if (backlink === undefined || resolve(own, backlink) !== link) return undefined;
  if (resolve(own, readGitFile(join(own, 'commondir'))?.trim() ?? '') !== repository) return undefined;
  const stores = ['objects', 'refs', 'logs'].map((name) => join(repository, name));
  return {
    writable: [own, ...stores].filter(isDirectory),
    readOnly: ['gitdir', 'commondir', 'config.worktree'].map((name) => join(own, name)),
  };
}

function readGitFile(path: string): string | undefined {
  return readSmallText(path, { bytesMax: limits.pathBytesMax * 2, followLinks: false });
}

function isDirectory(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
