import { accessSync, closeSync, constants, existsSync, openSync, readSync, statSync } from 'node:fs';
import { limits } from '../protocol/limits.js';
import { StoreRefused } from './faults.js';
import { loadSqlite, type Database } from './sqlite.js';

const userVersionAt = 60;
/** The letters `bert`. */
const applicationId = 1650815604;
const headerSize = 100;
/** Older releases can corrupt a WAL when it is reset. */
const sqliteVersionMin = [3, 51, 3] as const;

/** Opens the store with its pragmas set and verified. A store that is newer than `knownVersion` is refused before it is touched. */
export function openDatabase(path: string, knownVersion: number): Database {
  refuseForeignFile(path, knownVersion);
  const Sqlite = loadSqlite();
  let db: Database;
  try {
    db = new Sqlite(path, { timeout: limits.busyTimeoutMs });
  } catch (error) {
    throw new StoreRefused(`cannot open ${path}: ${(error as Error).message}`, { cause: error });
  }
  try {
    refuseOthers(db, path);
    setPragmas(db, path);
    return db;
  } catch (error) {
    db.close();
    if (error instanceof StoreRefused) throw error;
    throw new StoreRefused(`cannot use ${path}: ${(error as Error).message}`, { cause: error });
  }
}

/** Throws what `openDatabase` would refuse this store for, as far as that can be seen without writing to it. */
export function checkDatabase(path: string, knownVersion: number): void {
  refuseForeignFile(path, knownVersion);
  const Sqlite = loadSqlite();
  if (!existsSync(path)) return;
  let db: Database | undefined;
  try {
    db = new Sqlite(path, { readonly: true, timeout: limits.busyTimeoutMs });
    refuseOthers(db, path);
    refuseNewer(path, db.pragma('user_version', { simple: true }) as number, knownVersion);
  } catch (error) {
    if (error instanceof StoreRefused) throw error;
    throw new StoreRefused(`cannot open ${path}: ${(error as Error).message}`, { cause: error });
  } finally {
    db?.close();
  }
}

function refuseForeignFile(path: string, knownVersion: number): void {
  if (!existsSync(path)) return;
  if (!statSync(path).isFile()) throw new StoreRefused(`${path} is not a file`);
  refuseReadOnly(path);
  const header = Buffer.alloc(headerSize);
  const fd = openSync(path, 'r');
  const read = readSync(fd, header, 0, headerSize, 0);
  closeSync(fd);
  if (read === 0) return;
  if (header.toString('latin1', 0, 15) !== 'SQLite format 3') {
    throw new StoreRefused(`${path} is not a berth store; it was left as it is. Move it away or choose another --state-dir`);
  }
  refuseNewer(path, header.readUInt32BE(userVersionAt), knownVersion);
}

/** SQLite would open it all the same, and fail at the first write. */
function refuseReadOnly(path: string): void {
  try {
    accessSync(path, constants.W_OK);
  } catch (error) {
    throw new StoreRefused(`${path} cannot be written: ${(error as Error).message}`, { cause: error });
  }
}

/** Asked of SQLite, not of the file: the header may lag behind the WAL. A start that was killed at once leaves no tables. */
function refuseOthers(db: Database, path: string): void {
  if (db.pragma('application_id', { simple: true }) === applicationId) return;
  const tables = db.prepare<[], number>('SELECT count(*) FROM sqlite_schema').pluck().get();
  if (tables === 0) return;
  throw new StoreRefused(`${path} is a database of another program; it was left as it is. Move it away or choose another --state-dir`);
}

export function refuseNewer(path: string, found: number, known: number): void {
  if (found <= known) return;
  throw new StoreRefused(`${path} has schema version ${found}, this berth knows ${known}; it was left as it is. Upgrade berth to use it`);
}

/** What an empty store says of itself. With its application id, a database of another program is never taken over. */
export function markAsOwn(db: Database): void {
  db.pragma('auto_vacuum = INCREMENTAL');
  db.pragma(`application_id = ${applicationId}`);
}

function setPragmas(db: Database, path: string): void {
  if (db.pragma('user_version', { simple: true }) === 0) markAsOwn(db);
  db.pragma('journal_mode = WAL');
  // After journal_mode: the driver falls back to NORMAL when it turns to WAL.
  db.pragma('synchronous = FULL');
  db.pragma('foreign_keys = ON');
  db.pragma('trusted_schema = OFF');
  // SQLite passes over errors of its automatic checkpoints, an fsync that failed among them: `engine/commit` makes them itself.
  db.pragma('wal_autocheckpoint = 0');
  const version = db.prepare<[], string>('SELECT sqlite_version()').pluck().get() ?? '';
  const expected = { journal_mode: 'wal', synchronous: 2, foreign_keys: 1, busy_timeout: limits.busyTimeoutMs, wal_autocheckpoint: 0 };
  for (const [name, value] of Object.entries(expected)) {
    const actual = db.pragma(name, { simple: true });
    if (actual !== value) {
      throw new StoreRefused(`${path}: ${name} is ${String(actual)}, needs ${value}; put the state directory on a local file system`);
    }
  }
  if (!isAtLeast(version, sqliteVersionMin)) throw new StoreRefused(`SQLite ${version} is too old, needs ${sqliteVersionMin.join('.')}`);
}

function isAtLeast(version: string, least: readonly number[]): boolean {
  const parts = version.split('.').map(Number);
  for (const [i, wanted] of least.entries()) {
    const part = parts[i] ?? 0;
    if (part !== wanted) return part > wanted;
  }
  return true;
}
