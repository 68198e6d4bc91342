import { homedir } from 'node:os';

/** Abbreviates the home directory as `~`. */
export function shortenHome(path: string): string {
  const home = homedir();
  return path === home || path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}
