import { realpathSync, statSync } from 'node:fs';
import { WrongUsage } from './exit.js';

/** The real path of a directory, so that `.` finds its sessions again however they were reached. */
export function toDirectory(path: string): string {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw new WrongUsage(`there is no directory ${path}`);
  return realpathSync(path);
}
