import { statSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { configPath, readConfig, type Config } from '../machine/config.js';

/** What reading the config again came to. */
export interface Reloaded {
  /** The keys whose values are others now, such as `model` or `limits.model_attempts`. Never their values: some are keys of an API. */
  changed: string[];
  /** Those of them that a running daemon cannot take over. */
  needsRestart: string[];
  /** Why it was not read; the config before it stays in force. */
  problem: string | null;
}

export interface LoadedConfig {
  current(): Config;
  reload(): Reloaded;
  /** Why the last reload failed; null when it did not. */
  problem(): string | null;
  /** Whether the file is another than the one that was read. */
  isStale(): boolean;
}

/** Read once, when the daemon starts. */
const needRestart = new Set(['limits.runs_at_once']);

/** Reads the config and keeps it until it is told to read it again. Throws ConfigRefused when the first one cannot be used. */
export function loadConfig(configDir: string): LoadedConfig {
  // Before it is read: what is written meanwhile counts as a change.
  let mark = markOf(configDir);
  let config = readConfig(configDir);
  let problem: string | null = null;
  return {
    current: () => config,
    problem: () => problem,
    isStale: () => markOf(configDir) !== mark,
    reload() {
      const before = config.file;
      const seen = markOf(configDir);
      try {
        config = readConfig(configDir);
      } catch (error) {
        problem = error instanceof Error ? error.message : String(error);
        return { changed: [], needsRestart: [], problem };
      }
      problem = null;
      mark = seen;
      const changed = changedKeys(before, config.file);
      return { changed, needsRestart: changed.filter((key) => needRestart.has(key)), problem };
    },
  };
}

function markOf(configDir: string): string {
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
