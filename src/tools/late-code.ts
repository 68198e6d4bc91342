import { lstatSync, readFileSync, renameSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { limits } from '../protocol/limits.js';

/** Settings of git that name a program, another file or another host. A repository that was just made has none of them. */
const gitDeeds =
  /hookspath|fsmonitor|sshcommand|pager|editor|askpass|textconv|external|command|clean|smudge|process|driver|helper|gpg|include|alias|pack\b|insteadof|proxy|\[(?:filter|diff|merge)\b/i;

/**
 * Looks for what a confined command has made where programs would run it later, and takes it out of their way: it is kept under
 * another name beside it. Returns the new names.
 */
export function holdLateCode(absent: readonly string[]): string[] {
  return absent.flatMap((path) => {
    if (!exists(path) || isHarmless(path)) return [];
    const held = freeName(path);
    try {
      renameSync(path, held);
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
      throw error;
    }
    return [held];
  });
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** What `git init` and `git clone` write. */
function isHarmless(path: string): boolean {
  if (basename(path) !== 'config' || basename(dirname(path)) !== '.git') return false;
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat?.isFile() === true && stat.size <= limits.workspaceConfigBytesMax && !gitDeeds.test(readFileSync(path, 'utf8'));
}

function freeName(path: string): string {
  for (let n = 1; ; n++) {
    const name = join(dirname(path), `held-by-berth-${n}-${basename(path).replace(/^\.+/, '')}`);
    if (!exists(name)) return name;
  }
}
