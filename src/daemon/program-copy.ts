import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { limits } from '../protocol/limits.js';

/** The program that a daemon runs, apart from the installed one: an upgrade or a build replaces files that it has yet to load. */
export interface ProgramCopy {
  /** What to import. */
  entry: string;
  /** Removes the copies of other builds, and what a killed daemon had copied so far. */
  removeOthers(): void;
}

const prefix = 'program-';
const unfinished = `${prefix}unfinished`;
const entryFile = 'daemon-process.js';

interface ProgramFile {
  /** Relative to the built program. */
  name: string;
  bytes: number;
}

/**
 * The copy of the built program in the state directory, made unless it is there already. Call while holding the lock of that directory.
 * Undefined where there is nothing to copy (run from source) or no room for it: then the daemon runs from where it is installed.
 */
export function copyProgram(stateDir: string): ProgramCopy | undefined {
  const dist = dirname(fileURLToPath(import.meta.url));
  if (!existsSync(join(dist, entryFile))) return undefined;
  try {
    const packages = packagesOf(dist);
    const { files, key } = describeProgram(dist, packages);
    const name = `${prefix}${key}`;
    const dir = join(stateDir, name);
    if (!isWhole(dir, files)) {
      if (!hasRoom(stateDir)) return undefined;
      rmSync(dir, { recursive: true, force: true });
      const fresh = join(stateDir, unfinished);
      makeCopy(fresh, dist, { files, packages });
      // A build that went on meanwhile leaves a mixture.
      if (describeProgram(dist, packages).key !== key) return undefined;
      renameSync(fresh, dir);
    }
    return { entry: pathToFileURL(join(dir, 'dist', entryFile)).href, removeOthers: () => removeOthers(stateDir, name) };
  } catch (error) {
    if (error instanceof Error && 'syscall' in error) return undefined;
    throw error;
  }
}

/**
 * The files and a key that no other build has, even where packagers set all times alike: the kernel sets the time of change. The boot is
 * part of it, because a copy is not synced to disk: after a power failure its files may be there without their content.
 */
function describeProgram(dist: string, packages: string | undefined): { files: ProgramFile[]; key: string } {
  const hash = createHash('sha256').update(JSON.stringify([dist, packages, readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')]));
  const files = ['', 'migrations'].flatMap((folder) =>
    readdirSync(join(dist, folder))
      .filter((found) => /\.(js|sql)$/.test(found))
      .map((found) => join(folder, found)),
  );
  return {
    files: files.map((name) => {
      const { ino, size, ctimeNs } = statSync(join(dist, name), { bigint: true });
      hash.update(`\n${name} ${ino} ${size} ${ctimeNs}`);
      return { name, bytes: Number(size) };
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

/** With a mode of their own: whatever is in the state directory is for its owner alone. */
function makeCopy(to: string, dist: string, { files, packages }: { files: ProgramFile[]; packages: string | undefined }): void {
  rmSync(to, { recursive: true, force: true });
  mkdirSync(join(to, 'dist', 'migrations'), { recursive: true, mode: 0o700 });
  for (const { name } of files) writeFileSync(join(to, 'dist', name), readFileSync(join(dist, name)), { mode: 0o600 });
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
