import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/** Makes a directory and its missing parents with mode 0700. Not with Node's recursive mkdir, which loops for ever below /proc. */
export function makeDir(path: string): void {
  if (existsSync(path)) return;
  const above = dirname(path);
  if (above !== path) makeDir(above);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Race: another process made the directory.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
