/** What a failed commit means for whoever asked: try later, make room, or nothing can be trusted any more. */
export type StoreFault = PassingFault | 'fatal';
export type PassingFault = 'storage_full' | 'store_busy';

/** A write that found no room, by any of the names SQLite has for it (a quota is an IOERR_WRITE, a full shm an IOERR_SHMSIZE). */
const noRoom = new Set(['SQLITE_FULL', 'SQLITE_IOERR_WRITE', 'SQLITE_IOERR_SHMSIZE', 'SQLITE_IOERR_SHMMAP']);
const busy = new Set(['SQLITE_BUSY', 'SQLITE_BUSY_SNAPSHOT', 'SQLITE_BUSY_RECOVERY', 'SQLITE_BUSY_TIMEOUT', 'SQLITE_LOCKED']);

/** Undefined for errors that are not the store's: those are bugs. A failed fsync is fatal: what reached the disk is unknown. */
export function classifyFault(error: unknown): StoreFault | undefined {
  const code = sqliteCode(error);
  if (code === undefined || code.startsWith('SQLITE_CONSTRAINT') || code === 'SQLITE_ERROR' || code === 'SQLITE_MISUSE') return undefined;
  if (noRoom.has(code)) return 'storage_full';
  return busy.has(code) ? 'store_busy' : 'fatal';
}

function sqliteCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' && error.code.startsWith('SQLITE_') ? error.code : undefined;
}

/** The store cannot be used as it is; the message says why and what to do. Nothing was changed. */
export class StoreRefused extends Error {
  override name = 'StoreRefused';
}
