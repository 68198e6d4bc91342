import { createRequire } from 'node:module';
import type BetterSqlite3 from 'better-sqlite3';

export type Database = BetterSqlite3.Database;

/** The SQLite driver for this Node: the one built on Node-API 10 where Node has it. */
export function loadSqlite(): typeof BetterSqlite3 {
  const require = createRequire(import.meta.url);
  const name = Number(process.versions.napi) >= 10 ? 'better-sqlite3-napi' : 'better-sqlite3';
  return require(name) as typeof BetterSqlite3;
}
