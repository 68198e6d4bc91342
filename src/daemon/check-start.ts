import type { Paths } from '../machine/paths.js';
import { prepareSocketDir } from '../server/listen.js';
import { checkDatabase } from '../store/database.js';
import { readMigrations } from '../store/migrate.js';
import { readConfig } from '../machine/config.js';
import { databasePath } from './store-status.js';
import { createModelAccess } from './model-access.js';
import { migrationsDir } from './migrations-dir.js';

/** Dry run of a start: throws the refusal that it would get. Writes nothing, so another daemon may run on the same directories. */
export function checkStart({ configDir, stateDir, socket }: Paths, env: Record<string, string | undefined>): void {
  createModelAccess(readConfig(configDir), { configDir, env });
  prepareSocketDir(socket);
  checkDatabase(databasePath(stateDir), readMigrations(migrationsDir()).length);
}
