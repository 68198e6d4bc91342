import { closeSync, fsyncSync, linkSync, lstatSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';

/** The path of a whole copy of a database whose file was removed while it was open. The next start takes it where there is no database. */
function rescuedPath(path: string): string {
  return `${path}.rescued`;
}

/** Writes a durable copy of an open database beside its path. Returns the path of the copy. */
export function saveRescued(path: string, vacuumInto: (file: string) => void): string {
  const [unfinished, rescued] = [`${path}.rescuing`, rescuedPath(path)];
  rmSync(unfinished, { force: true });
  vacuumInto(unfinished);
  sync(unfinished);
  setAside(rescued);
  renameSync(unfinished, rescued);
  sync(dirname(path));
  return rescued;
}

/** Moves a copy that `saveRescued` made into the place of a database that is gone, and never over a file. False when there is no copy. */
export function placeRescued(path: string): boolean {
  const rescued = rescuedPath(path);
  if (lstatSync(rescued, { throwIfNoEntry: false }) === undefined) return false;
  linkSync(rescued, path);
  rmSync(rescued);
  sync(dirname(path));
  return true;
}

/**
 * Gives a database another name, together with its WAL: SQLite would apply one that is left to the next database of that name. Returns the
 * new path; undefined when there was no database.
 */
export function setAside(path: string): string | undefined {
  const aside = `${path}.aside-${Date.now()}`;
  const moved = ['', '-wal', '-shm'].filter((end) => lstatSync(`${path}${end}`, { throwIfNoEntry: false }) !== undefined);
  for (const end of moved) renameSync(`${path}${end}`, `${aside}${end}`);
  return moved.includes('') ? aside : undefined;
}

function sync(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
