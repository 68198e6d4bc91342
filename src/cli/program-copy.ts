import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { makeDir } from '../client/atomic-file.js';
import { limits } from '../protocol/limits.js';

/** The program of one daemon, apart from the installed one: an upgrade or a build replaces files that it has yet to load. */
export interface ProgramCopy {
  /** What to import. */
  entry: string;
  remove(): void;
}

const prefix = 'program-';

/**
 * Copies the built program into the state directory. Undefined where there is nothing to copy (run from source) or no room to copy to:
 * then the daemon runs from where it is installed.
 */
export function copyProgram(stateDir: string): ProgramCopy | undefined {
  const dist = dirname(fileURLToPath(import.meta.url));
  if (!existsSync(join(dist, 'daemon.js'))) return undefined;
  let dir: string | undefined;
  const remove = (): void => {
    if (dir !== undefined) rmSync(dir, { recursive: true, force: true });
  };
  try {
    makeDir(stateDir);
    if (!hasRoom(stateDir)) return undefined;
    dir = mkdtempSync(join(stateDir, prefix));
    const into = join(dir, 'dist');
    for (const folder of ['', 'migrations']) copyFiles(join(dist, folder), join(into, folder));
    const packages = packagesOf(dist);
    if (packages !== undefined) symlinkSync(packages, join(dir, 'node_modules'));
    return { entry: pathToFileURL(join(into, 'daemon.js')).href, remove };
  } catch (error) {
    remove();
    if (error instanceof Error && 'syscall' in error) return undefined;
    throw error;
  }
}

/** What is left on a disk that is nearly full is for the data. */
function hasRoom(dir: string): boolean {
  const { bavail, bsize } = statfsSync(dir);
  return bavail * bsize >= limits.programCopySpareBytesMin;
}

/** With a mode of their own: whatever is in the state directory is for its owner alone. */
function copyFiles(from: string, to: string): void {
  mkdirSync(to, { mode: 0o700 });
  for (const name of readdirSync(from).filter((found) => /\.(js|sql)$/.test(found))) {
    writeFileSync(join(to, name), readFileSync(join(from, name)), { mode: 0o600 });
  }
}

/** Removes what daemons that were killed left. Call while holding the lock: no other daemon of this state directory lives. */
export function removeOtherCopies(stateDir: string, own: ProgramCopy | undefined): void {
  for (const name of readdirSync(stateDir).filter((found) => found.startsWith(prefix))) {
    const dir = join(stateDir, name);
    if (own?.entry.startsWith(pathToFileURL(`${dir}/`).href) !== true) rmSync(dir, { recursive: true, force: true });
  }
}

/** Where packages that are not in the bundle are found from here: beside the program, or above it once it is installed itself. */
function packagesOf(dist: string): string | undefined {
  for (let at = dirname(dist); ; at = dirname(at)) {
    const packages = join(at, 'node_modules');
    if (existsSync(packages) && existsSync(join(packages, 'better-sqlite3'))) return packages;
    if (dirname(at) === at) return undefined;
  }
}
