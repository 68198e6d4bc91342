import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { limits } from '../protocol/limits.js';

/** The program that a daemon runs, apart from the installed one: an upgrade or a build replaces files that it has yet to load. */
export interface ProgramCopy {
  /** The bundle to run. */
  entry: string;
  /** Removes the copies of other builds, and what a killed daemon had copied so far. */
  removeOthers(): void;
}

const prefix = 'program-';
const unfinished = `${prefix}unfinished`;
const entryFile = 'daemon.cjs';
/** What the daemon loads. */
const loaded = /^(daemon|sdk-).*\.(cjs|cache)$|\.sql$/;

interface ProgramFile {
  /** Relative to the built program. */
  name: string;
  bytes: number;
}

interface Program {
  files: ProgramFile[];
  /** Where packages that are not in the bundle are. */
  packages: string | undefined;
}

/** The bundle of the daemon beside the one that asks. */
export function installedDaemon(): string {
  return join(dirname(fileURLToPath(import.meta.url)), entryFile);
}

/**
 * The copy of the built program in the state directory, made unless it is there already. Call while holding the lock of that directory.
 * Undefined where there is nothing to copy (run from source) or no room for it: then the daemon runs from where it is installed.
 */
export function copyProgram(stateDir: string): ProgramCopy | undefined {
  const entry = installedDaemon();
  if (!existsSync(entry)) return undefined;
  const dist = dirname(entry);
  try {
    const packages = packagesOf(dist);
    const { files, key } = describeProgram(dist, packages);
    const name = `${prefix}${key}`;
    const dir = join(stateDir, name);
    if (!isWhole(dir, files)) {
      rmSync(dir, { recursive: true, force: true });
      const fresh = join(stateDir, unfinished);
      const program = { files, packages };
      if (!tryLinks(fresh, dist, program)) {
        if (!hasRoom(stateDir)) return undefined;
        makeCopy(fresh, dist, program, copyFileSync);
      }
      // A build that went on meanwhile leaves a mixture.
      if (describeProgram(dist, packages).key !== key) return undefined;
      renameSync(fresh, dir);
    }
    return { entry: join(dir, 'dist', entryFile), removeOthers: () => removeOthers(stateDir, name) };
  } catch (error) {
    if (error instanceof Error && 'syscall' in error) return undefined;
    throw error;
  }
}

/**
 * The files and a key that no other build has: chunks are named by their content, and a file that was linked keeps its inode as long as the
 * copy is there. The boot is part of it, because a copy is not synced to disk: after a power failure its files may be there without their
 * content.
 */
function describeProgram(dist: string, packages: string | undefined): { files: ProgramFile[]; key: string } {
  const hash = createHash('sha256').update(JSON.stringify([dist, packages, readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')]));
  const files = ['', 'migrations'].flatMap((folder) =>
    readdirSync(join(dist, folder))
      .filter((found) => loaded.test(found))
      .map((found) => join(folder, found)),
  );
  return {
    files: files.map((name) => {
      const { dev, ino, size, mtimeMs } = statSync(join(dist, name));
      hash.update(`\n${name} ${dev} ${ino} ${size} ${mtimeMs}`);
      return { name, bytes: size };
    }),
    key: hash.digest('hex').slice(0, 16),
  };
}

function isWhole(dir: string, files: readonly ProgramFile[]): boolean {
  return files.every(({ name, bytes }) => statSync(join(dir, 'dist', name), { throwIfNoEntry: false })?.size === bytes);
}

/** What is left on a disk that is nearly full is for the data. */
function hasRoom(dir: string): boolean {
  const { bavail, bsize } = statfsSync(dir);
  return bavail * bsize >= limits.programCopySpareBytesMin;
}

/**
 * A link costs a twentieth of a copy, and neither a build nor npm writes into files that are there: they put others in their place. False
 * where there can be none: on another file system, or of files that belong to another user.
 */
function tryLinks(to: string, dist: string, program: Program): boolean {
  try {
    makeCopy(to, dist, program, linkSync);
    return true;
  } catch (error) {
    if (error instanceof Error && 'syscall' in error && error.syscall === 'link') return false;
    throw error;
  }
}

function makeCopy(to: string, dist: string, { files, packages }: Program, put: (from: string, to: string) => void): void {
  rmSync(to, { recursive: true, force: true });
  mkdirSync(join(to, 'dist', 'migrations'), { recursive: true, mode: 0o700 });
  for (const { name } of files) put(join(dist, name), join(to, 'dist', name));
  if (packages !== undefined) symlinkSync(packages, join(to, 'node_modules'));
}

function removeOthers(stateDir: string, own: string): void {
  for (const name of readdirSync(stateDir).filter((found) => found.startsWith(prefix) && found !== own)) {
    rmSync(join(stateDir, name), { recursive: true, force: true });
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
