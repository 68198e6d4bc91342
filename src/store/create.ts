import { closeSync, fsyncSync, lstatSync, openSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { markAsOwn, openDatabase } from './database.js';
import { StoreRefused } from './faults.js';
import { migrate, type Migration } from './migrate.js';
import { placeRescued, setAside } from './rescued.js';
import { loadSqlite, type Database } from './sqlite.js';

/** Opens the database and migrates it to the newest version. A missing one is first created, or completed from a rescue that was cut off. */
export function openOrCreate(path: string, migrations: Migration[]): Database {
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) {
    setAside(path);
    if (!placeRescued(path)) create(path, migrations);
  }
  const db = openDatabase(path, migrations.length);
  migrate(db, migrations);
  return db;
}

/**
 * Makes an empty database in memory and renames it into its place, so that a crash or a power failure leaves a whole one or none. On disk
 * each migration has an fsync of its own, which took a tenth of a first start.
 */
function create(path: string, migrations: Migration[]): void {
  const unfinished = `${path}.new`;
  try {
    withFile(unfinished, 'w', (fd) => {
      writeFileSync(fd, makeEmpty(migrations));
      fsyncSync(fd);
    });
    renameSync(unfinished, path);
    withFile(dirname(path), 'r', fsyncSync);
  } catch (error) {
    throw new StoreRefused(`cannot make ${path}: ${(error as Error).message}`, { cause: error });
  }
}

function makeEmpty(migrations: Migration[]): Buffer {
  const db = new (loadSqlite())(':memory:');
  try {
    markAsOwn(db);
    migrate(db, migrations);
    return db.serialize();
  } finally {
    db.close();
  }
}

function withFile(path: string, flags: string, work: (fd: number) => void): void {
  const fd = openSync(path, flags, 0o600);
  try {
    work(fd);
  } finally {
    closeSync(fd);
  }
}
