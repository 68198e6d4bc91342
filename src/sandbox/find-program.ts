import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Finds a program in the system directories, without PATH; undefined when there is none. */
export function findProgram(name: string): string | undefined {
  return ['/usr/bin', '/bin', '/usr/local/bin', '/run/current-system/sw/bin'].map((folder) => join(folder, name)).find(existsSync);
}
