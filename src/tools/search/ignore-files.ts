import { statSync } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { dirname, posix } from 'node:path';
import { limits } from '../../protocol/limits.js';
import { faultOf, isFault } from '../files/file-paths.js';
import { openFile, readWhole, type Refuses } from '../files/pinned-files.js';

export interface IgnoreFile {
  path: string;
  text: string;
}

/** The name of an ignore file of a directory that is a FIFO, which blocks programs that open it by name; undefined when none is. */
export function findIgnoreFifo(directory: string): string | undefined {
  return ['.gitignore', '.git/info/exclude'].find((name) => isFifo(posix.join(directory, name)));
}

function isFifo(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFIFO() === true;
  } catch (error) {
    faultOf(error);
    return false;
  }
}

/** Reads the .gitignore of a directory; undefined when there is none or the policy forbids reading it. */
export async function readIgnoreFile(directory: string, refuses: Refuses): Promise<IgnoreFile | undefined> {
  const path = posix.join(directory, '.gitignore');
  const file = await openFile(path, refuses);
  if (typeof file === 'string') return undefined;
  try {
    const text = (await readWhole(file.handle, limits.ignoreFileBytesMax))?.toString('utf8');
    return text === undefined ? undefined : { path, text };
  } finally {
    await file.handle.close();
  }
}

/**
 * Reads the .gitignore files above a directory, outermost first, up to the repository root; without a repository, up to the workspace. Their
 * text is never shown, so files above the workspace count as well: a session may run in a subdirectory of a repository.
 */
export async function ignoreFilesAbove(root: string, workspace: string): Promise<IgnoreFile[]> {
  const found: IgnoreFile[] = [];
  for (let directory = root; !(await isRepository(directory));) {
    if (directory === '/') return found.filter(({ path }) => path.startsWith(`${workspace}/`));
    directory = dirname(directory);
    const file = await readIgnoreFile(directory, refuseSymlinks(directory));
    if (file !== undefined) found.unshift(file);
  }
  return found;
}

function refuseSymlinks(directory: string): Refuses {
  return (_, realPath) => (dirname(realPath) === directory ? undefined : 'it is a symbolic link');
}

async function isRepository(directory: string): Promise<boolean> {
  try {
    await lstat(posix.join(directory, '.git'));
    return true;
  } catch (error) {
    if (!isFault(error, 'ENOENT', 'EACCES', 'ENOTDIR')) throw error;
    return false;
  }
}
