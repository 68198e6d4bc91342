import { existsSync, realpathSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

/**
 * The path of a program that survives its upgrade: a link on PATH that leads to it (such as /usr/local/bin/node), else the path itself,
 * which may name a version.
 */
export function stablePath(name: string, target: string, path: string): string {
  const real = realpathSync(target);
  const candidates = path
    .split(delimiter)
    .filter((dir) => isAbsolute(dir))
    .map((dir) => join(dir, name));
  return candidates.find((found) => existsSync(found) && realpathSync(found) === real) ?? real;
}
