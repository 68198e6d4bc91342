import { lstatSync, readlinkSync, type Stats } from 'node:fs';
import { dirname, resolve, sep } from 'node:path';
import { limits } from '../protocol/limits.js';

/** Whether a path is longer than any that the system opens, or has more names than anybody's: nobody looks where it leads. */
export function isTooLong(path: string): boolean {
  if (path.length > limits.pathBytesMax || Buffer.byteLength(path) > limits.pathBytesMax) return true;
  return path.split(sep).filter(isName).length > limits.pathNamesMax;
}

function isName(name: string): boolean {
  return name !== '' && name !== '.';
}

/**
 * Where an absolute path leads now, name by name as the system would go: `..` is above where a link has led to. What does not exist is taken
 * as it is written. Undefined when it leads nowhere, as a loop of links does, and when it is too long.
 */
export function toRealPath(path: string): string | undefined {
  if (path.includes('\0') || isTooLong(path)) return undefined;
  // The next name is the last one.
  const names = path.split(sep).filter(isName).reverse();
  let at: string = sep;
  /** The first directory on the way that is not there: nothing below it is. */
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
    const found = missing === undefined ? lookAt(next) : undefined;
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

/**
 * The path of a grant, when no link is on the way to it. A link that was there when something was granted may lead elsewhere by now, and
 * whoever may write its directory, such as a command of an agent, can put one there: a grant therefore holds for a real path alone.
 */
export function toGrantedPath(absolute: string): string | undefined {
  const meant = resolve(absolute);
  return toRealPath(meant) === meant ? meant : undefined;
}

/** Why the path of a grant, which may begin with `~/`, grants nothing; undefined when it does. Relative paths need a `base`. */
export function whyNotGranted(path: string, home: string, base?: string): string | undefined {
  if (base === undefined && !/^(\/|~\/|~$)/.test(path)) return undefined;
  const absolute = toAbsolute(path, base ?? sep, home);
  if (toGrantedPath(absolute) !== undefined) return undefined;
  const real = toRealPath(resolve(absolute));
  if (real === undefined) return `${path} leads nowhere, so it allows nothing`;
  return `there is a link on the way to ${path}, and links can be changed, so it allows nothing; name where it leads: ${real}`;
}

export function isBelow(path: string, root: string): boolean {
  return path === root || path.startsWith(root === sep ? sep : root + sep);
}

/** `~/x` with the home directory in front; other paths below `base`. Not made shorter: only the system knows what `..` is above. */
export function toAbsolute(path: string, base: string, home: string): string {
  if (path === '~' || path.startsWith('~/')) return `${home}${path.slice(1)}`;
  return path.startsWith(sep) ? path : `${base}/${path}`;
}
