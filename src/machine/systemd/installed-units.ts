import { readFileSync, rmSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { replaceFile } from '../atomic-file.js';
import { homeOrRoot } from '../home.js';
import { makeDir } from '../make-dir.js';
import { serviceUnit, socketUnits } from './user-manager.js';

type Env = Record<string, string | undefined>;

/** The first line of a unit that `berth daemon install` wrote, and may replace. */
export const unitMark = '# Written by berth daemon install, which replaces it. Changes belong into a drop-in: systemctl --user edit';

/** The directory of the user's own units. */
export function unitDir(env: Env): string {
  const config = env.XDG_CONFIG_HOME;
  const base = config !== undefined && isAbsolute(config) ? config : join(homeOrRoot(env), '.config');
  return join(base, 'systemd', 'user');
}

/** The names of all units of the service. */
export const unitNames = [serviceUnit, ...socketUnits];

/** The text of an installed unit; undefined when there is none. */
export function readInstalledUnit(dir: string, name: string): string | undefined {
  try {
    return readFileSync(join(dir, name), 'utf8');
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(String((error as NodeJS.ErrnoException).code))) return undefined;
    throw error;
  }
}

/** Whether the service that is installed listens on this socket. */
export function isInstalledFor(socket: string, env: Env): boolean {
  const text = readInstalledUnit(unitDir(env), socketUnits[0]);
  const path = /^ListenStream=(.*)$/m.exec(text ?? '')?.[1];
  return path?.replace(/^%t(?=\/)/, env.XDG_RUNTIME_DIR ?? '').replaceAll('%%', '%') === socket;
}

export function writeUnit(dir: string, name: string, text: string): void {
  makeDir(dir);
  replaceFile(join(dir, name), text, () => true);
}

export function removeUnit(dir: string, name: string): void {
  rmSync(join(dir, name), { force: true });
}
