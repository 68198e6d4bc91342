import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/** Makes a directory that only its owner may enter, and what is missing above it. Level by level: Node's recursive mkdir never ends below /proc. */
export function makeDir(path: string): void {
  if (existsSync(path)) return;
  const above = dirname(path);
  if (above !== path) makeDir(above);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Somebody else was faster.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
