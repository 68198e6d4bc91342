import { lstatSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { readSmallText } from '../machine/bounded-read.js';
import { limits } from '../protocol/limits.js';
import { isBelow, toRealPath } from './real-paths.js';

/** The paths outside of a linked worktree that git writes while it works there. Real paths. */
export interface WorktreeGit {
  /** The git directory of the worktree, and the repository's directories for objects, refs and reflogs. */
  writable: string[];
  /** Files in these that locate the repository, and so decide which hooks and config git uses. */
  readOnly: string[];
}

/**
 * Finds the git directories of a workspace that was made with `git worktree add`. Its `.git` file, which commands can write, is trusted only
 * if the backlink in the repository, which they cannot write, agrees.
 */
export function findWorktreeGit(workspace: string): WorktreeGit | undefined {
  const link = join(workspace, '.git');
  const gitDirText = /^gitdir: ([^\n]+)\n?$/.exec(readGitFile(link) ?? '')?.[1];
  const gitDir = gitDirText === undefined ? undefined : toRealPath(resolve(workspace, gitDirText));
  if (gitDir === undefined || basename(dirname(gitDir)) !== 'worktrees') return undefined;
  const repository = dirname(dirname(gitDir));
  if (isBelow(gitDir, workspace) || isBelow(workspace, repository)) return undefined;
  const backlink = readGitFile(join(gitDir, 'gitdir'))?.trim();
  if (backlink === undefined || resolve(gitDir, backlink) !== link) return undefined;
  if (resolve(gitDir, readGitFile(join(gitDir, 'commondir'))?.trim() ?? '') !== repository) return undefined;
  const sharedDirs = ['objects', 'refs', 'logs'].map((name) => join(repository, name));
  return {
    writable: [gitDir, ...sharedDirs].filter(isDirectory),
    readOnly: ['gitdir', 'commondir', 'config.worktree'].map((name) => join(gitDir, name)),
  };
}

function readGitFile(path: string): string | undefined {
  return readSmallText(path, { bytesMax: limits.pathBytesMax * 2, followLinks: false });
}

function isDirectory(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
