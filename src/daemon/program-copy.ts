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
import { driverNames } from '../store/sqlite.js';

/** A copy of the installed program, which the daemon runs: an upgrade or a build would replace modules that are loaded lazily. */
export interface ProgramCopy {
  /** The path of the bundle to run. */
  entry: string;
  /** Removes the copies of other builds, and incomplete copies of killed daemons. */
  removeOthers(): void;
}

const prefix = 'program-';
const unfinished = `${prefix}unfinished`;
const entryFile = 'daemon.cjs';
/** Files of the build that the daemon loads. */
const daemonFiles = /^(daemon|sdk-).*\.(cjs|cache)$|\.sql$/;

interface ProgramFile {
  /** Relative to the built program. */
  name: string;
  bytes: number;
}

interface Program {
  files: ProgramFile[];
  /** The node_modules directory with the packages that are not in the bundle. */
  packages: string | undefined;
}

/** The path of the daemon's bundle beside the bundle that runs. */
export function installedDaemon(): string {
  return join(dirname(fileURLToPath(import.meta.url)), entryFile);
}

/**
 * Copies the built program into the state directory, unless the copy exists. Call while holding the lock of that directory. Undefined when
 * run from source, or when the disk is nearly full: then the daemon runs from where it is installed.
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
    if (!isComplete(dir, files)) {
      rmSync(dir, { recursive: true, force: true });
      const fresh = join(stateDir, unfinished);
      const program = { files, packages };
      if (!tryLinks(fresh, dist, program)) {
        if (!hasRoom(stateDir)) return undefined;
        makeCopy(fresh, dist, program, copyFileSync);
      }
      // Race: a build that ran meanwhile leaves files of two builds.
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
 * The files and a key that is unique for the build: chunks are named by their content, and a hard link keeps its inode as long as the copy
 * exists. The boot id is part of the key, because there is no fsync of a copy: after a power failure its files may be empty.
 */
function describeProgram(dist: string, packages: string | undefined): { files: ProgramFile[]; key: string } {
  const hash = createHash('sha256').update(JSON.stringify([dist, packages, readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')]));
  const files = ['', 'migrations'].flatMap((folder) =>
    readdirSync(join(dist, folder))
      .filter((found) => daemonFiles.test(found))
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

function isComplete(dir: string, files: readonly ProgramFile[]): boolean {
  return files.every(({ name, bytes }) => statSync(join(dir, 'dist', name), { throwIfNoEntry: false })?.size === bytes);
}

/** The last free space of a disk is reserved for the database. */
function hasRoom(dir: string): boolean {
  const { bavail, bsize } = statfsSync(dir);
  return bavail * bsize >= limits.programCopySpareBytesMin;
}

/**
 * Hard links take a twentieth of the time of a copy, and are safe, because a build and npm replace files and never write into them. False
 * where hard links are impossible: on another file system, or for files of another user.
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

/** The node_modules directory that resolves packages outside the bundle: in the package of the program, or above it. */
function packagesOf(dist: string): string | undefined {
  for (let at = dirname(dist); ; at = dirname(at)) {
    const packages = join(at, 'node_modules');
    if (driverNames.some((name) => existsSync(join(packages, name)))) return packages;
    if (dirname(at) === at) return undefined;
  }
}
