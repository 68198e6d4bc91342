import { createRequire } from 'node:module';
import type BetterSqlite3 from 'better-sqlite3';

export type Database = BetterSqlite3.Database;

/** The driver whose binary fits this Node: from Node-API 10 on the newer one, which older Nodes cannot load. */
export function loadSqlite(): typeof BetterSqlite3 {
  const require = createRequire(import.meta.url);
  const name = Number(process.versions.napi) >= 10 ? 'better-sqlite3-napi' : 'better-sqlite3';
  return require(name) as typeof BetterSqlite3;
}
