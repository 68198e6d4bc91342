import { existsSync, renameSync, rmSync, watch, type FSWatcher } from 'node:fs';
import { join } from 'node:path';
import type { StatePlace } from '../engine/door/commit.js';
import { makeDir } from '../machine/make-dir.js';
import { isOpenHere, rememberOpened, statOf } from '../machine/opened-file.js';
import { placeRescued, saveRescued, setAside } from '../store/rescued.js';
import { takeLock, type Lock } from './lock.js';

const tuning = {
  /** How long a rescue waits for others to be done with the directory, before and after it. */
  calmMs: 250,
  rescueAttemptsMax: 8,
} as const;

/** What became of an attempt to save the database, in sentences for people, and the path of the copy. */
interface Rescue {
  said: string;
  file: string | undefined;
}

interface Deps {
  stateDir: string;
  /** The path of the open database. */
  database: string;
  lock: Lock;
  /** Copies the open database into a new file. */
  vacuumInto(file: string): void;
}

export interface StateGuard extends StatePlace {
  /** Calls a listener as soon as the database or the lock is displaced, also while nothing is committed. Returns what ends the watch. */
  watch(onDisplaced: () => void): () => void;
  /** Saves what only the open database has, after it or the lock was displaced. Returns sentences for people. Nothing may be committed after. */
  rescue(): string;
}

/** Guards the files that the daemon has open by their path: somebody may remove, move or replace them. */
export function createStateGuard({ stateDir, database, lock, vacuumInto }: Deps): StateGuard {
  const { isInPlace: holdsDatabase } = rememberOpened(database);
  const lockFile = join(stateDir, 'berth.lock');
  let held = lock;

  function rescue(): string {
    if (holdsDatabase()) {
      return `${lockFile} was removed or replaced while the daemon ran, so another daemon could have started: this one ends. Nothing is lost; start berth again`;
    }
    const what = existsSync(stateDir) ? database : stateDir;
    let result: Rescue = { said: '', file: undefined };
    for (let attempts = 0; attempts < tuning.rescueAttemptsMax; attempts++) {
      // A recursive removal of the directory may still be at work, and take the copy with it.
      sleep(tuning.calmMs);
      result = rescueOnce();
      sleep(tuning.calmMs);
      if (result.file !== undefined && existsSync(result.file)) break;
    }
    return `${what} was removed, moved or replaced while the daemon ran. ${result.said}`;
  }

  function rescueOnce(): Rescue {
    let file: string | undefined;
    try {
      makeDir(stateDir);
      file = saveRescued(database, vacuumInto);
      return place(file);
    } catch (error) {
      const why = (error as Error).message;
      if (file === undefined) return { said: `What the daemon had could not be saved: ${why}`, file };
      return { said: `All that was acknowledged was saved as ${file}, which could not be moved to ${database}: ${why}`, file };
    }
  }

  function place(rescued: string): Rescue {
    // Without the old lock, a new one is needed to touch the database: another daemon may run on the path already.
    if (!held.isHeld()) {
      const taken = takeLock(stateDir);
      if (!taken) {
        const kept = `${database}.rescued-${Date.now()}`;
        renameSync(rescued, kept);
        const remedy = `stop the other daemon and move it to ${database} to go on with it`;
        return { said: `Another daemon runs there now. All that was acknowledged by this one was saved as ${kept}; ${remedy}`, file: kept };
      }
      held = taken;
    }
    clearWal();
    const aside = setAside(database);
    placeRescued(database);
    const replaced = aside === undefined ? '' : `, and the file that stood there was kept as ${aside}`;
    return {
      said: `All that was acknowledged was saved again as ${database}${replaced}; start berth again to go on with it`,
      file: database,
    };
  }

  /** Removes the WAL of the displaced database, whose content is in the copy. That of another database is left to be set aside with it. */
  function clearWal(): void {
    for (const end of ['-wal', '-shm']) {
      const found = statOf(`${database}${end}`);
      if (found && isOpenHere(found)) rmSync(`${database}${end}`);
    }
  }

  return {
    holdsLock: lock.isHeld,
    holdsDatabase,
    watch(onDisplaced) {
      const check = (): void => {
        if (!holdsDatabase() || !lock.isHeld()) onDisplaced();
      };
      const watchers = [database, lockFile].map((path) => watchFile(path, check));
      check();
      return () => watchers.forEach((watcher) => watcher?.close());
    },
    rescue,
  };
}

/** Watches one file, not its directory, in which each commit writes. Undefined where that is not possible: each commit looks by itself. */
function watchFile(path: string, onChange: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(path, { persistent: false }, onChange);
    watcher.on('error', () => watcher.close());
    return watcher;
  } catch (error) {
    if (error instanceof Error && 'syscall' in error) return undefined;
    throw error;
  }
}

/** Blocks the thread: the daemon does nothing else any more. */
function sleep(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
