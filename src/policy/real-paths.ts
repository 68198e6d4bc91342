import { lstatSync, readlinkSync, type Stats } from 'node:fs';
import { dirname, join, sep } from 'node:path';

/** More links than this is a loop; the system thinks so, too. */
const linksMax = 40;

/**
 * Where an absolute path leads now, name by name as the system would go: `..` is above where a link has led to. What does not exist is taken
 * as it is written. Undefined when it leads nowhere, as a loop of links does.
 */
export function toRealPath(path: string): string | undefined {
  if (path.includes('\0')) return undefined;
  let names = path.split(sep);
  let at: string = sep;
  for (let links = 0; names.length > 0;) {
    const [name = '', ...rest] = names;
    names = rest;
    if (name === '' || name === '.') continue;
    if (name === '..') {
      at = dirname(at);
      continue;
    }
    const next = join(at, name);
    const target = lookAt(next)?.isSymbolicLink() === true ? readLink(next) : undefined;
    if (target === undefined) at = next;
    else {
      if (++links > linksMax) return undefined;
      names = [...target.split(sep), ...names];
      if (target.startsWith(sep)) at = sep;
    }
  }
  return at;
}

function lookAt(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (isOfTheSystem(error)) return undefined;
    throw error;
  }
}

function readLink(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch (error) {
    if (isOfTheSystem(error)) return undefined;
    throw error;
  }
}

/** It is not there, or not for us to see. */
function isOfTheSystem(error: unknown): boolean {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && /^E[A-Z]+$/.test(error.code);
}

export function isBelow(path: string, root: string): boolean {
  return path === root || path.startsWith(root === sep ? sep : root + sep);
}

/** `~/x` with the home directory in front; other paths below `base`. Not made shorter: only the system knows what `..` is above. */
export function toAbsolute(path: string, base: string, home: string): string {
  if (path === '~' || path.startsWith('~/')) return `${home}${path.slice(1)}`;
  return path.startsWith(sep) ? path : `${base}/${path}`;
}
