import { fsyncSync, lstatSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { backUpBeforeMigration } from './backup.js';
import { isDamage, refuseDamage } from './damage/damage.js';
import { finishReplacing, fullCheckDone, isFullCheckRequested, replaceDamaged } from './damage/replace-damaged.js';
import { describeSalvage, type SalvageNote } from './damage/salvage.js';
import { markAsOwn, openDatabase } from './database.js';
import { StoreRefused } from './faults.js';
import { migrate, versionOf, type Migration } from './migrate.js';
import { placeRescued, setAside } from './rescued.js';
import { loadSqlite, type Database } from './sqlite.js';
import { withFile } from './with-file.js';

/**
 * Opens the database and migrates it to the newest version, after a copy was kept of an older one; a missing one is first created,
 * or completed from a rescue that was cut off. A damaged one is moved aside, and what can be read of it is salvaged into a new one. `tell` gets
 * a sentence on each of these.
 */
export function openOrCreate(path: string, migrations: Migration[], tell: (sentence: string) => void = () => undefined): Database {
  const tellSalvage = (note: SalvageNote | undefined): void => note && tell(describeSalvage(note));
  tellSalvage(finishReplacing(path, migrations));
  try {
    return openWhole(path, migrations, tell);
  } catch (error) {
    if (!isDamage(error)) throw error;
    tell((error as Error).message);
    tellSalvage(replaceDamaged(path, migrations, Date.now()));
    return openWhole(path, migrations, tell);
  }
}

function openWhole(path: string, migrations: Migration[], tell: (sentence: string) => void): Database {
  const isNew = lstatSync(path, { throwIfNoEntry: false }) === undefined;
  if (isNew) {
    setAside(path);
    if (!placeRescued(path)) create(path, migrations);
  }
  const db = openDatabase(path, migrations.length);
  try {
    if (!isNew) refuseDamage(db, isFullCheckRequested(path));
    const version = versionOf(db);
    if (version > 0 && version < migrations.length) {
      const copy = backUpBeforeMigration(db, migrations.length);
      tell(`the store is brought from schema version ${version} to ${migrations.length}; a copy of it was kept as ${copy}`);
    }
    migrate(db, migrations);
    fullCheckDone(path);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
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
