import { closeSync, fsyncSync, lstatSync, openSync, renameSync, rmSync } from 'node:fs';
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
 * Makes an empty store beside its place and renames it, so that a kill or a power failure leaves a whole one or none. It is synced once
 * instead of after each of its steps, which is a tenth of a first start.
 */
function create(path: string, migrations: Migration[]): void {
  const unfinished = `${path}.new`;
  try {
    removeUnfinished(unfinished);
    const db = new (loadSqlite())(unfinished);
    try {
      db.pragma('synchronous = OFF');
      db.pragma('journal_mode = MEMORY');
      markAsOwn(db);
      db.transaction(() => migrate(db, migrations))();
      db.pragma('journal_mode = WAL');
    } finally {
      db.close();
    }
    sync(unfinished);
    renameSync(unfinished, path);
    sync(dirname(path));
  } catch (error) {
    throw new StoreRefused(`cannot make ${path}: ${(error as Error).message}`, { cause: error });
  }
}

function removeUnfinished(path: string): void {
  for (const suffix of ['', '-journal', '-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true });
}

function sync(path: string): void {
  const fd = openSync(path, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
