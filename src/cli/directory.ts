import type { Berth } from '../client/connect.js';
import { existsSync, realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, posix } from 'node:path';
import { findHome } from '../machine/home.js';
import { Refused, WrongUsage } from './exit.js';

/** The real path of a directory, so that its sessions are found through symlinks as well. */
export function toDirectory(path: string): string {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw new WrongUsage(`there is no directory ${path}`);
  return realpathSync(path);
}

/** The current directory, which may have been deleted. */
export function currentDirectory(): string {
  try {
    return process.cwd();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new Refused('this directory no longer exists; go to another one, or name the session');
  }
}

/**
 * A directory and its ancestors to search for sessions, nearest first: up to the root of its git repository, or else up to the home directory
 * or the file system root, exclusive.
 */
export function enclosingDirectories(cwd: string): string[] {
  const around = [cwd];
  for (let dir = cwd; dirname(dir) !== dir; dir = dirname(dir)) around.push(dirname(dir));
  const repository = around.findIndex((dir) => existsSync(join(dir, '.git')));
  if (repository !== -1) return around.slice(0, repository + 1);
  const home = around.indexOf(findHome(process.env) ?? '');
  return around.slice(0, Math.max(1, home === -1 ? around.length - 1 : home));
}

/** The directory of a new session: what was typed, or the current one. On another machine a path begins in the home directory there. */
export function newSessionDirectory(berth: Berth, typed?: string): string {
  if (berth.transport.host === undefined) return toDirectory(typed ?? currentDirectory());
  const home = berth.transport.home?.() ?? '/';
  if (typed === undefined) return home;
  return isAbsolute(typed) ? posix.normalize(typed) : posix.join(home, typed.replace(/^~(\/|$)/, ''));
}

/** The directory of this shell, for what is about it. */
export function directoryHere({ transport: { host } }: Berth): string {
  if (host === undefined) return currentDirectory();
  throw new WrongUsage(`this directory means nothing on ${host}; name a session`);
}
