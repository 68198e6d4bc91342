import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The directory of the SQL migrations: beside the sources, or beside the bundle. */
export function migrationsDir(): string {
  const here = dirname(fileURLToPath(import.meta.url));
  const places = [join(here, 'migrations'), join(here, '../../migrations')];
  return places.find((place) => existsSync(place)) ?? here;
}
