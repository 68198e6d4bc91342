import { lstatSync, readlinkSync, type BigIntStats } from 'node:fs';
import { posix } from 'node:path';
import { isWithin, realPaths } from '../../sandbox/bubblewrap.js';
import type { IgnoreFile } from './ignore-files.js';

/** Directories of programs and shared libraries, readable by everybody. */
const systemDirs = ['/usr', '/bin', '/lib', '/lib32', '/lib64', '/nix/store'];
/** The first file descriptor after stdin, stdout and stderr. */
export const firstFile = 3;

/** A shell check that device and inode of the directory are those that the policy judged (TOCTOU race). */
const sameDirectoryCheck = '[ "$(stat -c %d:%i .)" = "$1" ] || { echo "$2" >&2; exit 2; }; shift 2; exec "$@"';

export interface SearchSandbox {
  args: string[];
  /** Texts to write to descriptors 3, 4 … */
  files: string[];
  /** How many paths below the root are masked. */
  covered: number;
}

export interface SearchedRoot {
  /** The real path, and the stat of the directory when the policy judged it. */
  path: string;
  stat: BigIntStats;
  /** Real paths that may not be read. */
  hidden: readonly string[];
  ignoreFiles: readonly IgnoreFile[];
}

/**
 * Arguments of bubblewrap for a program that sees one directory and the system directories only: a symlink that is swapped in while the
 * program runs points to nothing.
 */
export function toSearchSandbox(program: string, { path: root, stat, hidden, ignoreFiles }: SearchedRoot): SearchSandbox {
  const isSystem = systemDirs.some((dir) => isWithin(root, dir));
  const visible = [root, ...systemDirs];
  const covers = realPaths(hidden).filter((path) => !isWithin(root, path) && visible.some((dir) => isWithin(path, dir)));
  // bubblewrap cannot create a file (a mount point) inside a read-only bind mount.
  const above = isSystem ? [] : ignoreFiles;
  return {
    args: [
      ...['--unshare-user', '--unshare-pid', '--die-with-parent', '--new-session', '--cap-drop', 'ALL'],
      ...(root === '/' ? [] : [...systemDirs.flatMap(bindSystemDir), '--ro-bind', program, program]),
      ...['--ro-bind', root, root],
      ...above.flatMap(({ path }, i) => ['--file', String(firstFile + i), path]),
      ...covers.flatMap((path) => (lstatSync(path).isDirectory() ? ['--tmpfs', path] : ['--ro-bind', '/dev/null', path])),
      ...['--chdir', root, '--', '/bin/sh', '-c', sameDirectoryCheck, 'berth', `${stat.dev}:${stat.ino}`],
      ...[`${root} was moved or replaced just now; try again`, program],
    ],
    files: above.map(({ text }) => text),
    covered: covers.filter((path) => isWithin(path, root)).length,
  };
}

function bindSystemDir(path: string): string[] {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return [];
  if (!stat.isSymbolicLink()) return ['--ro-bind', path, path];
  return ['--symlink', posix.resolve('/', readlinkSync(path)), path];
}
