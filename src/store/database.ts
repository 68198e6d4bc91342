import { accessSync, closeSync, constants, existsSync, openSync, readSync, statSync } from 'node:fs';
import { limits } from '../protocol/limits.js';
import { isDamage, StoreDamaged } from './damage/damage.js';
import { StoreRefused } from './faults.js';
import { loadSqlite, type Database } from './sqlite.js';

const userVersionAt = 60;
const applicationIdAt = 68;
/** SQLite's application_id: the letters `bert`. */
const applicationId = 1650815604;
const headerSize = 100;
/** Older releases of SQLite can corrupt a WAL when it is reset. */
const sqliteVersionMin = [3, 51, 3] as const;

/** Opens the database and sets and verifies its pragmas. A schema newer than `knownVersion` is refused before any write. */
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
    refuseForeignDatabase(db, path);
    setPragmas(db, path);
    return db;
  } catch (error) {
    db.close();
    if (error instanceof StoreRefused) throw error;
    if (isDamage(error) && isOwnFile(path)) throw new StoreDamaged(`${path} is damaged: ${(error as Error).message}`, { cause: error });
    throw new StoreRefused(`cannot use ${path}: ${(error as Error).message}`, { cause: error });
  }
}

/** Dry run of `openDatabase`: throws its refusals, as far as they can be found without writing. */
export function checkDatabase(path: string, knownVersion: number): void {
  refuseForeignFile(path, knownVersion);
  const Sqlite = loadSqlite();
  if (!existsSync(path)) return;
  let db: Database | undefined;
  try {
    db = new Sqlite(path, { readonly: true, timeout: limits.busyTimeoutMs });
    refuseForeignDatabase(db, path);
    refuseNewer(path, db.pragma('user_version', { simple: true }) as number, knownVersion);
  } catch (error) {
    if (error instanceof StoreRefused) throw error;
    // A start moves a damaged one aside.
    if (isDamage(error) && isOwnFile(path)) return;
    throw new StoreRefused(`cannot open ${path}: ${(error as Error).message}`, { cause: error });
  } finally {
    db?.close();
  }
}

function refuseForeignFile(path: string, knownVersion: number): void {
  if (!existsSync(path)) return;
  if (!statSync(path).isFile()) throw new StoreRefused(`${path} is not a file; move it away or choose another --state-dir`);
  refuseReadOnly(path);
  const header = readHeader(path);
  if (!header) return;
  if (header.toString('latin1', 0, 15) !== 'SQLite format 3') {
    throw new StoreRefused(`${path} is not a berth store; it was left as it is. Move it away or choose another --state-dir`);
  }
  refuseNewer(path, header.readUInt32BE(userVersionAt), knownVersion);
}

/** Undefined for an empty file. */
function readHeader(path: string): Buffer | undefined {
  const header = Buffer.alloc(headerSize);
  const fd = openSync(path, 'r');
  try {
    return readSync(fd, header, 0, headerSize, 0) === 0 ? undefined : header;
  } finally {
    closeSync(fd);
  }
}

/** Whether a database that SQLite cannot read has the application_id of berth. */
function isOwnFile(path: string): boolean {
  return readHeader(path)?.readUInt32BE(applicationIdAt) === applicationId;
}

/** SQLite opens a read-only file without an error, and fails at the first write. */
function refuseReadOnly(path: string): void {
  try {
    accessSync(path, constants.W_OK);
  } catch (error) {
    throw new StoreRefused(`${path} cannot be written: ${(error as Error).message}`, { cause: error });
  }
}

/** Reads application_id through SQLite: the header of the file may lag behind the WAL. A killed first start leaves no tables. */
function refuseForeignDatabase(db: Database, path: string): void {
  if (db.pragma('application_id', { simple: true }) === applicationId) return;
  const tables = db.prepare<[], number>('SELECT count(*) FROM sqlite_schema').pluck().get();
  if (tables === 0) return;
  throw new StoreRefused(`${path} is a database of another program; it was left as it is. Move it away or choose another --state-dir`);
}

export function refuseNewer(path: string, found: number, known: number): void {
  if (found <= known) return;
  throw new StoreRefused(`${path} has schema version ${found}, this berth knows ${known}; it was left as it is. Upgrade berth to use it`);
}

/** Sets the pragmas of an empty database. The application_id distinguishes it from databases of other programs. */
export function markAsOwn(db: Database): void {
  db.pragma('auto_vacuum = INCREMENTAL');
  db.pragma(`application_id = ${applicationId}`);
}

function setPragmas(db: Database, path: string): void {
  if (db.pragma('user_version', { simple: true }) === 0) markAsOwn(db);
  db.pragma('journal_mode = WAL');
  // After journal_mode: the driver sets synchronous to NORMAL when it switches to WAL.
  db.pragma('synchronous = FULL');
  db.pragma('foreign_keys = ON');
  db.pragma('trusted_schema = OFF');
  // SQLite ignores errors of automatic checkpoints, a failed fsync among them: `engine/door/commit.ts` checkpoints the WAL itself.
  db.pragma('wal_autocheckpoint = 0');
  const version = db.prepare<[], string>('SELECT sqlite_version()').pluck().get() ?? '';
  const expected = { journal_mode: 'wal', synchronous: 2, foreign_keys: 1, busy_timeout: limits.busyTimeoutMs, wal_autocheckpoint: 0 };
  for (const [name, value] of Object.entries(expected)) {
    const actual = db.pragma(name, { simple: true });
    if (actual !== value) {
      throw new StoreRefused(`${path}: ${name} is ${String(actual)}, needs ${value}; put the state directory on a local file system`);
    }
  }
  if (!isAtLeast(version, sqliteVersionMin))
    throw new StoreRefused(`SQLite ${version} is too old, needs ${sqliteVersionMin.join('.')}; install berth's dependencies again`);
}

function isAtLeast(version: string, least: readonly number[]): boolean {
  const parts = version.split('.').map(Number);
  for (const [i, wanted] of least.entries()) {
    const part = parts[i] ?? 0;
    if (part !== wanted) return part > wanted;
  }
  return true;
}
