import { realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { WrongUsage } from './exit.js';

/** The real path of a directory, so that `.` finds its sessions again however they were reached. */
export function toDirectory(path: string): string {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw new WrongUsage(`there is no directory ${path}`);
  return realpathSync(path);
}

/** A path as people like to read it: their home directory is `~`. */
export function shortenHome(path: string): string {
  const home = homedir();
  return path === home || path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}
