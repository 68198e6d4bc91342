import { join } from 'node:path';
import type { Paths } from '../machine/paths.js';
import { prepareSocketDir } from '../server/listen.js';
import { checkDatabase } from '../store/database.js';
import { readMigrations } from '../store/migrate.js';
import { readConfig } from '../machine/config.js';
import { createModelAccess } from './model-access.js';
import { migrationsDir } from './migrations-dir.js';

/** Throws what a start would be refused for. Changes nothing, so that it can be asked while another daemon runs on the same directories. */
export function checkStart({ configDir, stateDir, socket }: Paths, env: Record<string, string | undefined>): void {
  createModelAccess(readConfig(configDir), { configDir, env });
  prepareSocketDir(socket);
  checkDatabase(join(stateDir, 'berth.db'), readMigrations(migrationsDir()).length);
}
