import { existsSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { isSameDirectory, type Paths } from '../machine/paths.js';
import { isSystemError } from '../machine/system-calls.js';
import { refusal, type Refusal } from '../protocol/errors.js';
import { limits } from '../protocol/limits.js';
import { backUpTo, freeBytesOf } from '../store/backup.js';
import { isDamage } from '../store/damage/damage.js';
import { requestFullCheck } from '../store/damage/replace-damaged.js';
import { describeSalvage, type SalvageNote } from '../store/damage/salvage.js';
import { classifyFault } from '../store/faults.js';
import type { Store } from '../store/store.js';

/** Sizes in bytes, and what is wrong. */
export interface StoreStatus {
  db_bytes: number;
  wal_bytes: number;
  artifact_bytes: number;
  log_bytes: number;
  free_bytes: number;
  warnings: string[];
}

export function databasePath(stateDir: string): string {
  return join(stateDir, 'berth.db');
}

/** Has the next start check the whole store after an error that tells of damage. Returns what to say instead of calling the error a bug. */
export function noteDamage(stateDir: string, error: unknown): string | undefined {
  if (!isDamage(error)) return undefined;
  requestFullCheck(databasePath(stateDir));
  return 'the store is damaged: the daemon ends; its next start moves the store aside and salvages what can be read';
}

/** Sizes, warnings and backups of the store. */
export function createStoreStatus(store: Store, { stateDir }: Pick<Paths, 'stateDir'>) {
  const { db } = store;

  function warnings(freeBytes: number, walBytes: number): string[] {
    const note = store.meta.get('salvage');
    const salvage = note === undefined ? undefined : (JSON.parse(note) as SalvageNote);
    return [
      // Until a person has put the damaged store away.
      ...(salvage && existsSync(salvage.movedTo) ? [describeSalvage(salvage)] : []),
      ...(walBytes > limits.walWarnBytesMax
        ? [
            `${db.name}-wal has grown to ${Math.floor(walBytes / 1024 / 1024)} MB: another program has been reading the store for long; end it`,
          ]
        : []),
      ...(freeBytes < limits.freeBytesMin
        ? [`only ${Math.floor(freeBytes / 1024 / 1024)} MB are free on the disk of ${stateDir}; free some space, or runs will wait`]
        : []),
    ];
  }

  return {
    status(): StoreStatus {
      const freeBytes = freeBytesOf(stateDir);
      const walBytes = sizeOf(`${db.name}-wal`);
      return {
        db_bytes: sizeOf(db.name),
        wal_bytes: walBytes,
        artifact_bytes: store.artifacts.fileBytes(),
        log_bytes: sizeOf(join(stateDir, 'berth.log')),
        free_bytes: freeBytes,
        warnings: warnings(freeBytes, walBytes),
      };
    },
    /** Copies the store to a file. Returns the size of the copy, or why there is none. */
    async backUp(file: string, overwrite: boolean): Promise<number | Refusal> {
      const refuse = (why: string): Refusal => refusal('invalid_payload', `${file} ${why}`, { field: 'path' });
      if (!isAbsolute(file)) return refuse('is not an absolute path');
      if (isSameDirectory(dirname(file), stateDir)) return refuse('is in the state directory of the daemon; choose another place');
      const found = statSync(file, { throwIfNoEntry: false });
      if (found && !found.isFile()) return refuse('is not a file');
      if (found && !overwrite) return refuse('exists');
      try {
        await backUpTo(db, file);
        return sizeOf(file);
      } catch (error) {
        if (!db.open) return refusal('shutting_down', 'the daemon stops; make the backup when it has started again');
        const isFull = classifyFault(error) === 'storage_full' || (isSystemError(error) && error.code === 'ENOSPC');
        if (isFull) return refusal('storage_full', `the disk of ${file} is full`);
        if (isSystemError(error) || classifyFault(error) !== undefined) return refuse(`cannot be written: ${(error as Error).message}`);
        throw error;
      }
    },
  };
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
