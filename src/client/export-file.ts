import { closeSync, fchmodSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { ownerOnly } from '../machine/atomic-file.js';

/**
 * Writes a file piece by piece, with mode 0600. An existing file is refused with EEXIST, or replaced at the end with `force`. When the work
 * fails, what was written is removed.
 */
export async function writeExportFile<T>(file: string, force: boolean, work: (write: (text: string) => void) => Promise<T>): Promise<T> {
  const written = force ? `${file}.${process.pid}.tmp` : file;
  const descriptor = openSync(written, 'wx', ownerOnly);
  let isWhole = false;
  try {
    // The umask may remove even the owner's bits.
    fchmodSync(descriptor, ownerOnly);
    const result = await work((text) => writeFileSync(descriptor, text));
    fsyncSync(descriptor);
    if (force) renameSync(written, file);
    isWhole = true;
    return result;
  } finally {
    closeSync(descriptor);
    if (!isWhole) rmSync(written, { force: true });
  }
}
