import { statSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { limits } from '../protocol/limits.js';
import { isSystemError } from '../machine/system-calls.js';
import { configPath } from '../machine/config-path.js';
import { readConfig, type Config } from '../machine/config.js';

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
  /** Reads the file again; `isSameFile`: it is as it was at the last attempt. */
  reload(): Reloaded & { isSameFile: boolean };
  /** Why the last reload failed; null when it did not. */
  problem(): string | null;
  /** Whether the file has changed since it was read without a problem. */
  isStale(): boolean;
  /** Whether the file may have changed since it was read, with or without a problem. */
  isUnread(): boolean;
  /** The keys that have changed since this was asked the last time, or since the start. */
  takeChanged(): string[];
}

/** Keys that are read once, when the daemon starts. */
const needRestart = new Set(['limits.runs_at_once']);

export function needingRestart(changed: readonly string[]): string[] {
  return changed.filter((key) => needRestart.has(key));
}

/** Reads the config and caches it until a reload. Throws ConfigRefused when the first read fails. */
export function loadConfig(configDir: string): LoadedConfig {
  // Race: the fingerprint is taken before the read, so that a write in between counts as a change.
  let seen = lookAt(configDir);
  let accepted = seen;
  let config = readConfig(configDir);
  let told = config.file;
  let problem: string | null = null;
  return {
    current: () => config,
    problem: () => problem,
    isStale: () => lookAt(configDir).fingerprint !== accepted.fingerprint,
    isUnread: () => !seen.isSettled || lookAt(configDir).fingerprint !== seen.fingerprint,
    takeChanged() {
      const changed = changedKeys(told, config.file);
      told = config.file;
      return changed;
    },
    reload() {
      const before = config.file;
      const now = lookAt(configDir);
      const isSameFile = now.fingerprint === seen.fingerprint;
      seen = now;
      try {
        config = readConfig(configDir);
      } catch (error) {
        problem = error instanceof Error ? error.message : String(error);
        return { changed: [], needsRestart: [], problem, isSameFile };
      }
      problem = null;
      accepted = seen;
      const changed = changedKeys(before, config.file);
      return { changed, needsRestart: needingRestart(changed), problem, isSameFile };
    },
  };
}

interface Look {
  fingerprint: string;
  /** False for a file that was changed so recently that another change may leave the same times. */
  isSettled: boolean;
}

function lookAt(configDir: string): Look {
  try {
    const stat = statSync(configPath(configDir), { bigint: true, throwIfNoEntry: false });
    if (!stat) return { fingerprint: '', isSettled: true };
    const isSettled = Date.now() - Number(stat.ctimeMs) >= limits.fileSettleMs;
    return { fingerprint: `${stat.dev} ${stat.ino} ${stat.size} ${stat.mtimeNs}`, isSettled };
  } catch (error) {
    // The read that follows names the problem.
    if (isSystemError(error)) return { fingerprint: error.code, isSettled: true };
    throw error;
  }
}

function changedKeys(before: object, after: object): string[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((key) => {
    // It is for editors.
    if (key === '$schema') return [];
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
