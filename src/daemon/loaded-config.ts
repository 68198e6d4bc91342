import { statSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { configPath, readConfig, type Config } from '../machine/config.js';

/** The result of a reload of the config. */
export interface Reloaded {
  /** The changed keys, such as `model` or `limits.model_attempts`. Never their values, which may be secrets. */
  changed: string[];
  /** The changed keys that take effect after a restart only. */
  needsRestart: string[];
  /** Why the reload failed; the earlier config stays in force. */
  problem: string | null;
}

export interface LoadedConfig {
  current(): Config;
  reload(): Reloaded;
  /** Why the last reload failed; null when it did not. */
  problem(): string | null;
  /** Whether the file has changed since it was read. */
  isStale(): boolean;
}

/** Keys that are read once, when the daemon starts. */
const needRestart = new Set(['limits.runs_at_once']);

/** Reads the config and caches it until a reload. Throws ConfigRefused when the first read fails. */
export function loadConfig(configDir: string): LoadedConfig {
  // Race: the fingerprint is taken before the read, so that a write in between counts as a change.
  let fingerprint = fingerprintOf(configDir);
  let config = readConfig(configDir);
  let problem: string | null = null;
  return {
    current: () => config,
    problem: () => problem,
    isStale: () => fingerprintOf(configDir) !== fingerprint,
    reload() {
      const before = config.file;
      const seen = fingerprintOf(configDir);
      try {
        config = readConfig(configDir);
      } catch (error) {
        problem = error instanceof Error ? error.message : String(error);
        return { changed: [], needsRestart: [], problem };
      }
      problem = null;
      fingerprint = seen;
      const changed = changedKeys(before, config.file);
      return { changed, needsRestart: changed.filter((key) => needRestart.has(key)), problem };
    },
  };
}

function fingerprintOf(configDir: string): string {
  const stat = statSync(configPath(configDir), { bigint: true, throwIfNoEntry: false });
  return stat ? `${stat.dev} ${stat.ino} ${stat.size} ${stat.mtimeNs}` : '';
}

function changedKeys(before: object, after: object): string[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((key) => {
    const [was, is] = [before, after].map((file) => (file as Record<string, unknown>)[key]);
    if (isDeepStrictEqual(was, is)) return [];
    if (!isGroup(was ?? is) || !isGroup(is ?? was)) return [key];
    const [left, right] = [was ?? {}, is ?? {}] as [Record<string, unknown>, Record<string, unknown>];
    const inside = [...new Set([...Object.keys(left), ...Object.keys(right)])].filter(
      (name) => !isDeepStrictEqual(left[name], right[name]),
    );
    return inside.map((name) => `${key}.${name}`);
  });
}

function isGroup(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
