import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** A program of the machine itself, whatever PATH says; undefined when it has none. */
export function findProgram(name: string): string | undefined {
  return ['/usr/bin', '/bin', '/usr/local/bin', '/run/current-system/sw/bin'].map((folder) => join(folder, name)).find(existsSync);
}
