/** The fault of a failed commit: transient, or fatal, after which the state on disk is unknown. */
export type StoreFault = TransientFault | 'fatal';
export type TransientFault = 'storage_full' | 'store_busy';

/** Error codes of SQLite for a full disk (a quota is an IOERR_WRITE, a full shared memory an IOERR_SHMSIZE). */
const noRoom = new Set(['SQLITE_FULL', 'SQLITE_IOERR_WRITE', 'SQLITE_IOERR_SHMSIZE', 'SQLITE_IOERR_SHMMAP']);
const busy = new Set(['SQLITE_BUSY', 'SQLITE_BUSY_SNAPSHOT', 'SQLITE_BUSY_RECOVERY', 'SQLITE_BUSY_TIMEOUT', 'SQLITE_LOCKED']);

/** Undefined for errors that are bugs. A failed fsync is fatal: whether the commit reached the disk is unknown. */
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

/** The database or the lock file was removed or replaced while it was open: nothing may be committed or acknowledged any more. */
export class StoreDisplaced extends Error {
  override name = 'StoreDisplaced';
}

/** The database cannot be used; the message names cause and remedy. Nothing was changed. */
export class StoreRefused extends Error {
  override name = 'StoreRefused';
}
