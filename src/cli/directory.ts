import { realpathSync, statSync } from 'node:fs';
import { Refused, WrongUsage } from './exit.js';

/** The real path of a directory, so that `.` finds its sessions again however they were reached. */
export function toDirectory(path: string): string {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw new WrongUsage(`there is no directory ${path}`);
  return realpathSync(path);
}

/** Where the person is. The directory may have been removed under their feet. */
export function currentDirectory(): string {
  try {
    return process.cwd();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new Refused('this directory no longer exists; go to another one, or name the session');
  }
}
