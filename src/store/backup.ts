import { closeSync, fsyncSync, openSync, readdirSync, renameSync, rmSync, statfsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { limits } from '../protocol/limits.js';
import { StoreRefused } from './faults.js';
import type { Database } from './sqlite.js';
import { withFile } from './with-file.js';

/**
 * Keeps a copy of a database that is about to be migrated to `version`, and of older copies the newest few. Returns its path. Refuses where
 * the disk has no room for it.
 */
export function backUpBeforeMigration(db: Database, version: number): string {
  const bytes = (db.pragma('page_count', { simple: true }) as number) * (db.pragma('page_size', { simple: true }) as number);
  const freeBytes = freeBytesOf(dirname(db.name));
  // The migration may write the largest table again.
  const neededBytes = 2 * bytes;
  if (freeBytes < neededBytes) {
    throw new StoreRefused(
      `${db.name} has to be brought to schema version ${version}, which needs ${megabytes(neededBytes)} MB of free space for a copy and the work; there are ${megabytes(freeBytes)} MB. Nothing was changed; free some space and start again`,
    );
  }
  const file = `${db.name}.before-${version}`;
  const unfinished = `${file}.part`;
  rmSync(unfinished, { force: true });
  // VACUUM INTO takes an empty file, and keeps its mode.
  closeSync(openSync(unfinished, 'wx', 0o600));
  db.prepare('VACUUM INTO ?').run(unfinished);
  putInPlace(unfinished, file);
  removeOldCopies(db.name, file);
  return file;
}

/** Copies the database to a file while it is in use, in steps between which others have their turn. A file that is there is replaced at the end. */
export async function backUpTo(db: Database, file: string): Promise<void> {
  const unfinished = `${file}.part`;
  rmSync(unfinished, { force: true });
  closeSync(openSync(unfinished, 'wx', 0o600));
  try {
    await db.backup(unfinished, { progress: () => limits.backupPagesMax });
    putInPlace(unfinished, file);
  } finally {
    for (const end of ['', '-journal', '-wal', '-shm']) rmSync(unfinished + end, { force: true });
  }
}

export function freeBytesOf(dir: string): number {
  const { bavail, bsize } = statfsSync(dir);
  return bavail * bsize;
}

function putInPlace(unfinished: string, file: string): void {
  withFile(unfinished, 'r', fsyncSync);
  renameSync(unfinished, file);
  withFile(dirname(file), 'r', fsyncSync);
}

function removeOldCopies(path: string, newest: string): void {
  const prefix = `${basename(path)}.before-`;
  const versionOf = (name: string): number => Number(name.slice(prefix.length));
  const others = readdirSync(dirname(path))
    .filter((name) => name.startsWith(prefix) && name !== basename(newest) && Number.isInteger(versionOf(name)))
    .toSorted((a, b) => versionOf(b) - versionOf(a));
  for (const name of others.slice(limits.migrationCopiesMax - 1)) rmSync(join(dirname(path), name), { force: true });
}

function megabytes(bytes: number): number {
  return Math.ceil(bytes / 1024 / 1024);
}
