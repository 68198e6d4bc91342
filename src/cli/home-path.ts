import { homedir } from 'node:os';

/** A path as people like to read it: their home directory is `~`. */
export function shortenHome(path: string): string {
  const home = homedir();
  return path === home || path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}
