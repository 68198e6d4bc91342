import { closeSync, fsyncSync, lstatSync, openSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { markAsOwn, openDatabase } from './database.js';
import { StoreRefused } from './faults.js';
import { migrate, type Migration } from './migrate.js';
import { loadSqlite, type Database } from './sqlite.js';

/** Opens the store and brings it to the newest version; where there is none, it is made first. */
export function openOrCreate(path: string, migrations: Migration[]): Database {
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) create(path, migrations);
  const db = openDatabase(path, migrations.length);
  migrate(db, migrations);
  return db;
}

/**
 * Makes an empty store in memory and moves it to its place whole, so that a kill or a power failure leaves one or none. On disk each
 * migration is synced by itself, which took a tenth of a first start.
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
