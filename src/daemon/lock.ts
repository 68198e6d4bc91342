import { join } from 'node:path';
import { loadSqlite } from '../store/sqlite.js';

export interface Lock {
  release(): void;
}

/**
 * One daemon a state directory: an exclusive transaction on a SQLite file, held for life. The kernel drops it with the
 * process, so there is no stale lock and no pid to mistake. Undefined when another daemon holds it.
 */
export function takeLock(stateDir: string): Lock | undefined {
  const Sqlite = loadSqlite();
  const db = new Sqlite(join(stateDir, 'berth.lock'), { timeout: 0 });
  try {
    db.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    db.close();
    if (error instanceof Error && 'code' in error && error.code === 'SQLITE_BUSY') return undefined;
    throw error;
  }
  return { release: () => void db.close() };
}
