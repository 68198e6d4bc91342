import { createRequire } from 'node:module';
import type BetterSqlite3 from 'better-sqlite3';
import { StoreRefused } from './faults.js';

export type Database = BetterSqlite3.Database;
type Driver = typeof BetterSqlite3;

/** A checkout has the driver for Node-API 10 under a name of its own, because a lock file has one version for all Nodes. */
export const driverNames = ['better-sqlite3-napi', 'better-sqlite3'];

/** What a Node needs of the driver. Another version ends the process, at once or in the middle of work, without an error. */
interface Need {
  node: string;
  napi: number;
  arch: string;
}

let loaded: Driver | undefined;

/** The SQLite driver for this Node. Throws `StoreRefused` when none that is installed can be loaded. */
export function loadSqlite(): Driver {
  const { node, napi } = process.versions;
  loaded ??= findDriver(createRequire(import.meta.url), { node, napi: Number(napi), arch: `${process.platform} ${process.arch}` });
  return loaded;
}

export function findDriver(require: (path: string) => unknown, need: Need): Driver {
  const major = need.napi >= 10 ? 13 : 12;
  const problems = [];
  for (const name of driverNames) {
    try {
      const { version } = require(`${name}/package.json`) as { version: string };
      if (!version.startsWith(`${major}.`)) {
        problems.push({ reason: `version ${version} is installed, which does not work with it`, cause: undefined });
        continue;
      }
      const Driver = require(name) as Driver;
      // The native part is loaded with the first database.
      new Driver(':memory:').close();
      return Driver;
    } catch (error) {
      const absent =
        error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND' && error.message.includes(`${name}/package`);
      if (!absent) problems.push({ reason: `version ${major} is installed without a native part that loads`, cause: error });
    }
  }
  const { reason, cause } = problems.at(-1) ?? { reason: 'it is not installed', cause: undefined };
  throw new StoreRefused(
    `berth cannot load its SQLite driver, better-sqlite3 ${major}, on Node ${need.node} (${need.arch}): ${reason}. ${remedy(major)}`,
    {
      cause,
    },
  );
}

/** The installation is what is wrong, so that the remedy is for npm. */
function remedy(major: number): string {
  if (major >= 13)
    return `Install berth again with this Node and without --omit=optional, or install better-sqlite3@${major} beside it; nothing is compiled for x64 and arm64.`;
  return (
    'Install berth again with this Node, without --ignore-scripts and --omit=optional, where npm can download a prebuilt driver or has python3, ' +
    `make and a C++ compiler; in a checkout, npm rebuild better-sqlite3. On Node 22.14 and newer nothing is compiled.`
  );
}
