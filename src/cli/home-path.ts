import { findHome } from '../machine/home.js';

/** Abbreviates the home directory as `~`. */
export function shortenHome(path: string): string {
  const home = findHome(process.env);
  if (home === undefined) return path;
  return path === home || path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}
