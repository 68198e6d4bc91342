import { lstatSync, readlinkSync, type Stats } from 'node:fs';
import { dirname, resolve, sep } from 'node:path';
import { limits } from '../protocol/limits.js';

/** Whether a path is too long to be resolved: over PATH_MAX (ENAMETOOLONG), or with too many names. */
export function isTooLong(path: string): boolean {
  if (path.length > limits.pathBytesMax || Buffer.byteLength(path) > limits.pathBytesMax) return true;
  return path.split(sep).filter(isName).length > limits.pathNamesMax;
}

function isName(name: string): boolean {
  return name !== '' && name !== '.';
}

/**
 * Resolves the symlinks of an absolute path, name by name as the kernel does: `..` is the parent of a symlink's target. Names that do not
 * exist are kept as written. Undefined for a loop of symlinks, and when the path is too long.
 */
export function toRealPath(path: string): string | undefined {
  if (path.includes('\0') || isTooLong(path)) return undefined;
  // A stack: the next name is the last one.
  const names = path.split(sep).filter(isName).reverse();
  let at: string = sep;
  /** The first directory of the path that does not exist: nothing below it exists. */
  let missing: string | undefined;
  let links = 0;
  for (let steps = 0; names.length > 0; steps++) {
    if (steps > limits.pathStepsMax) return undefined;
    const name = names.pop() ?? '';
    if (name === '..') {
      if (at === missing) missing = undefined;
      at = dirname(at);
      continue;
    }
    const next = at === sep ? `${sep}${name}` : `${at}${sep}${name}`;
    const found = missing === undefined ? lstatIfReadable(next) : undefined;
    const target = found?.isSymbolicLink() === true ? readLink(next) : undefined;
    if (target === undefined) {
      at = next;
      if (found?.isDirectory() !== true) missing ??= at;
    } else {
      if (++links > limits.linkHopsMax) return undefined;
      names.push(...target.split(sep).filter(isName).reverse());
      if (target.startsWith(sep)) at = sep;
    }
  }
  return at;
}

function lstatIfReadable(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (isErrno(error)) return undefined;
    throw error;
  }
}

function readLink(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch (error) {
    if (isErrno(error)) return undefined;
    throw error;
  }
}

/** A system error such as ENOENT or EACCES. */
function isErrno(error: unknown): boolean {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && /^E[A-Z]+$/.test(error.code);
}

/**
 * The path of a grant, if it has no symlink in it; else undefined. A symlink may be changed after the grant by any process that may write its
 * directory, such as a command of an agent: a grant therefore holds for a real path alone.
 */
export function toGrantedPath(absolute: string): string | undefined {
  const normalized = resolve(absolute);
  return toRealPath(normalized) === normalized ? normalized : undefined;
}

/** Why the path of a grant, which may begin with `~/`, grants nothing; undefined for a valid grant. Relative paths need a `base`. */
export function whyNotGranted(path: string, home: string, base?: string): string | undefined {
  if (base === undefined && !/^(\/|~\/|~$)/.test(path)) return undefined;
  const absolute = toAbsolute(path, base ?? sep, home);
  if (toGrantedPath(absolute) !== undefined) return undefined;
  const real = toRealPath(resolve(absolute));
  if (real === undefined) return `${path} is a loop of symbolic links or too long, so it allows nothing; name the real path`;
  return `${path} has a symbolic link in it, and links can be changed, so it allows nothing; name the real path: ${real}`;
}

export function isBelow(path: string, root: string): boolean {
  return path === root || path.startsWith(root === sep ? sep : root + sep);
}

/** Expands `~/x`, and puts other relative paths below `base`. Not normalized: only the kernel knows the parent of a symlink's target. */
export function toAbsolute(path: string, base: string, home: string): string {
  if (path === '~' || path.startsWith('~/')) return `${home}${path.slice(1)}`;
  return path.startsWith(sep) ? path : `${base}/${path}`;
}
