import { join } from 'node:path';
import { rememberOpened } from '../machine/opened-file.js';
import { StoreRefused } from '../store/faults.js';
import { loadSqlite, type Database } from '../store/sqlite.js';

export interface Lock {
  /** False once the lock file was removed or replaced: another daemon can lock the new one. */
  isHeld(): boolean;
  release(): void;
}

/**
 * Mutual exclusion of daemons on a state directory: an exclusive transaction on a SQLite file, held for life. The kernel releases the
 * lock with the process, so there is no stale lock and no pid file. Undefined when another daemon holds the lock.
 */
export function takeLock(stateDir: string): Lock | undefined {
  const Sqlite = loadSqlite();
  const path = join(stateDir, 'berth.lock');
  let db: Database;
  try {
    db = new Sqlite(path, { timeout: 0 });
  } catch (error) {
    throw new StoreRefused(`cannot open ${path}: ${(error as Error).message}`, { cause: error });
  }
  try {
    db.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    db.close();
    if (error instanceof Error && 'code' in error && error.code === 'SQLITE_BUSY') return undefined;
    throw new StoreRefused(`cannot lock ${path}: ${(error as Error).message}`, { cause: error });
  }
  return { isHeld: rememberOpened(path).isInPlace, release: () => void db.close() };
}
