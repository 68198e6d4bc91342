import { lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { dirname, isAbsolute, join, normalize, resolve, sep } from 'node:path';

/** More links than this is a loop; the system thinks so, too. */
const linksMax = 40;

/**
 * Where a path leads now: every link followed, also one whose target does not exist yet. What does not exist is taken as it is written.
 * Undefined when it leads nowhere, as a loop of links does.
 */
export function toRealPath(path: string): string | undefined {
  let missing = '';
  let at = normalize(path);
  for (let links = 0; links <= linksMax;) {
    const real = tryReal(at);
    if (real !== undefined) return missing === '' ? real : join(real, missing);
    const target = tryLink(at);
    if (target !== undefined) {
      links++;
      at = isAbsolute(target) ? target : resolve(toRealPath(dirname(at)) ?? dirname(at), target);
      continue;
    }
    const parent = dirname(at);
    if (parent === at) return undefined;
    missing = join(at.slice(parent.length).replace(/^\/+/, ''), missing);
    at = parent;
  }
  return undefined;
}

function tryReal(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function tryLink(path: string): string | undefined {
  try {
    return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : undefined;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && ['ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP', 'ENAMETOOLONG'].includes(String(error.code));
}

export function isBelow(path: string, root: string): boolean {
  return path === root || path.startsWith(root === sep ? sep : root + sep);
}

/** `~/x` with the home directory in front; other paths below `base`. */
export function toAbsolute(path: string, base: string, home: string): string {
  if (path === '~' || path.startsWith('~/')) return join(home, path.slice(1));
  return resolve(base, path);
}
