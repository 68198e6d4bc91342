import { accessSync, constants, existsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Paths } from '../machine/paths.js';
import { prepareSocketDir } from '../server/listen.js';
import { checkDatabase } from '../store/database.js';
import { readMigrations } from '../store/migrate.js';
import { readConfig } from '../machine/config.js';
import { databasePath } from './store-status.js';
import { createModelAccess } from './model-access.js';
import { isSystemError } from '../machine/system-calls.js';
import { migrationsDir } from './migrations-dir.js';
import { cannotKeep, StartRefused } from './start-refused.js';

/** Dry run of a start: throws the refusal that it would get. Writes nothing, so another daemon may run on the same directories. */
export function checkStart({ configDir, stateDir, socket }: Paths, env: Record<string, string | undefined>): void {
  createModelAccess(readConfig(configDir), { configDir, env });
  checkWritable(stateDir);
  prepareSocketDir(socket);
  checkDatabase(databasePath(stateDir), readMigrations(migrationsDir()).length);
}

/** The state directory, or the one that it would be made in. */
function checkWritable(stateDir: string): void {
  let dir = stateDir;
  while (!existsSync(dir) && dirname(dir) !== dir) dir = dirname(dir);
  try {
    accessSync(dir, constants.W_OK | constants.X_OK);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    throw new StartRefused(cannotKeep(stateDir, error.code));
  }
}
