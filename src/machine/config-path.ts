import { join } from 'node:path';

export function configPath(configDir: string): string {
  return join(configDir, 'config.json');
}
