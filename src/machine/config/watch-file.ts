import { lstatSync, readlinkSync, realpathSync, statSync, watch as watchDirectory, type FSWatcher } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { limits } from '../../protocol/limits.js';
import { isSystemError } from '../system-calls.js';

interface Options {
  /** Called when nothing has happened to the file for `fileSettleMs`; the file may be as it was. */
  onSettled(): void;
  /** Called when changes may be missed from now on. */
  onFailed(error: unknown): void;
  watch?: typeof watchDirectory;
}

/**
 * Watches a file that may be replaced, linked, removed or not there yet, and so may its directory: watched are the directories that its
 * path leads through, never the file itself. Without events it costs nothing.
 */
export function watchFile(path: string, { onSettled, onFailed, watch = watchDirectory }: Options): { close(): void } {
  let watchers: FSWatcher[] = [];
  let timer: NodeJS.Timeout | undefined;

  function touch(): void {
    clearTimeout(timer);
    timer = setTimeout(settle, limits.fileSettleMs);
  }

  function settle(): void {
    timer = undefined;
    // A directory of the same path may be another one now. Watched before the file is read: no change falls in between.
    arm();
    onSettled();
  }

  function arm(): void {
    disarm();
    try {
      for (const [dir, names] of placesOf(path)) watchers.push(watchOne(dir, names));
    } catch (error) {
      if (!isSystemError(error)) throw error;
      // Race: a directory was removed after it was looked at.
      if (error.code === 'ENOENT') touch();
      else onFailed(error);
    }
  }

  function watchOne(dir: string, names: ReadonlySet<string>): FSWatcher {
    const own = basename(dir);
    const watcher = watch(dir, { persistent: false }, (_, name) => {
      // The name of the directory itself comes when it is removed or moved.
      if (name === null || names.has(name) || name === own) touch();
    });
    return watcher.on('error', onFailed);
  }

  function disarm(): void {
    for (const watcher of watchers) watcher.close();
    watchers = [];
  }

  arm();
  return {
    close() {
      clearTimeout(timer);
      disarm();
    },
  };
}

/** The directories to watch for a file, each with the names in it that matter. */
function placesOf(path: string): Map<string, Set<string>> {
  const places = new Map<string, Set<string>>();

  function add(entry: string): void {
    const dir = dirname(entry);
    if (!isDirectory(dir)) return dir === entry ? undefined : add(dir);
    places.set(dir, (places.get(dir) ?? new Set()).add(basename(entry)));
    if (linkOf(dir) !== undefined) add(dir);
  }

  let entry: string | undefined = path;
  for (let links = 0; entry !== undefined && links < limits.linkHopsMax; links++) {
    add(entry);
    const link: string | undefined = linkOf(entry);
    entry = link === undefined ? undefined : resolve(realpathSync(dirname(entry)), link);
  }
  return places;
}

function isDirectory(path: string): boolean {
  return probe(() => statSync(path).isDirectory()) ?? false;
}

function linkOf(path: string): string | undefined {
  return probe(() => (lstatSync(path).isSymbolicLink() ? readlinkSync(path) : undefined));
}

/** What cannot be looked at counts as absent: the nearest directory above it is watched. */
function probe<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}
