import { lstatSync, readlinkSync, type BigIntStats } from 'node:fs';
import { posix } from 'node:path';
import { isWithin, realPaths } from '../../sandbox/bubblewrap.js';
import type { IgnoreFile } from './ignore-files.js';

/** What a program and its libraries are loaded from. Everybody may read these. */
const systemDirs = ['/usr', '/bin', '/lib', '/lib32', '/lib64', '/nix/store'];
/** Descriptors 0 to 2 are those of the search. */
export const firstFile = 3;

/** Ends the search before it began when the directory is not the one that was judged. */
const check = '[ "$(stat -c %d:%i .)" = "$1" ] || { echo "$2" >&2; exit 2; }; shift 2; exec "$@"';

export interface SearchSandbox {
  args: string[];
  /** What is to be written to descriptors 3, 4 … */
  files: string[];
  /** How many places below the root are covered up. */
  covered: number;
}

export interface SearchedRoot {
  /** A real path, and what was found there when it was judged. */
  path: string;
  stat: BigIntStats;
  /** Real paths that may not be read. */
  hidden: readonly string[];
  ignoreFiles: readonly IgnoreFile[];
}

/**
 * The arguments of bubblewrap for a program that sees one directory and nothing else of a person: whoever exchanges a directory below
 * it with a link to somewhere else, while it runs, has made a link to nothing.
 */
export function toSearchSandbox(program: string, { path: root, stat, hidden, ignoreFiles }: SearchedRoot): SearchSandbox {
  const isSystem = systemDirs.some((dir) => isWithin(root, dir));
  const visible = [root, ...systemDirs];
  const covers = realPaths(hidden).filter((path) => !isWithin(root, path) && visible.some((dir) => isWithin(path, dir)));
  // In a directory that is bound no file can be made.
  const above = isSystem ? [] : ignoreFiles;
  return {
    args: [
      ...['--unshare-user', '--unshare-pid', '--die-with-parent', '--new-session', '--cap-drop', 'ALL'],
      ...(root === '/' ? [] : [...systemDirs.flatMap(bindSystemDir), '--ro-bind', program, program]),
      ...['--ro-bind', root, root],
      ...above.flatMap(({ path }, i) => ['--file', String(firstFile + i), path]),
      ...covers.flatMap((path) => (lstatSync(path).isDirectory() ? ['--tmpfs', path] : ['--ro-bind', '/dev/null', path])),
      ...['--chdir', root, '--', '/bin/sh', '-c', check, 'berth', `${stat.dev}:${stat.ino}`],
      ...[`${root} was moved or replaced just now`, program],
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
