import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { refuseNewer } from './database.js';
import { StoreRefused } from './faults.js';
import type { Database } from './sqlite.js';

export interface Migration {
  version: number;
  sql: string;
}

/** Reads the migrations `0001_name.sql`, `0002_…`; a gap in the numbers is a broken installation. */
export function readMigrations(dir: string): Migration[] {
  const files = readdirSync(dir)
    .filter((name) => /^\d{4}_.*\.sql$/.test(name))
    .sort();
  return files.map((name, index) => {
    const version = Number(name.slice(0, 4));
    if (version !== index + 1)
      throw new StoreRefused(`broken installation: migration ${index + 1} is missing before ${name}; install berth again`);
    return { version, sql: readFileSync(join(dir, name), 'utf8') };
  });
}

/** Migrates a database to the newest version, one transaction a migration: a crash in between leaves a whole version. */
export function migrate(db: Database, migrations: Migration[]): void {
  refuseNewer(db.name, versionOf(db), migrations.length);
  for (const { version, sql } of migrations) {
    if (version <= versionOf(db)) continue;
    db.transaction(() => {
      db.exec(sql);
      db.pragma(`user_version = ${version}`);
    }).immediate();
  }
}

/** The schema version; 0 for a database without tables. */
export function versionOf(db: Database): number {
  return db.pragma('user_version', { simple: true }) as number;
}
