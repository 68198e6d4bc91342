import { expect, test } from 'vitest';
import { classifyFault } from '../../src/store/faults.js';

function sqliteError(code: string): Error {
  return Object.assign(new Error(code), { code });
}

test('no room is told by any of the names SQLite has for it', () => {
  for (const code of ['SQLITE_FULL', 'SQLITE_IOERR_WRITE', 'SQLITE_IOERR_SHMSIZE'])
    expect(classifyFault(sqliteError(code))).toBe('storage_full');
});

test('a store that somebody else holds is busy', () => {
  for (const code of ['SQLITE_BUSY', 'SQLITE_BUSY_SNAPSHOT', 'SQLITE_BUSY_RECOVERY', 'SQLITE_LOCKED']) {
    expect(classifyFault(sqliteError(code))).toBe('store_busy');
  }
});

test('a failed fsync, a damaged file and anything else the store says cannot be trusted', () => {
  for (const code of ['SQLITE_IOERR_FSYNC', 'SQLITE_IOERR', 'SQLITE_IOERR_READ', 'SQLITE_CORRUPT', 'SQLITE_NOTADB', 'SQLITE_CANTOPEN']) {
    expect(classifyFault(sqliteError(code))).toBe('fatal');
  }
});

test('a broken promise of ours is a bug, not a fault', () => {
  for (const code of ['SQLITE_CONSTRAINT_UNIQUE', 'SQLITE_CONSTRAINT_PRIMARYKEY', 'SQLITE_ERROR', 'SQLITE_MISUSE']) {
    expect(classifyFault(sqliteError(code))).toBeUndefined();
  }
  for (const error of [new TypeError('x'), new Error('x'), sqliteError('ENOENT'), 'SQLITE_BUSY', undefined, null]) {
    expect(classifyFault(error)).toBeUndefined();
  }
});
