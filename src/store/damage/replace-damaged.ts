import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { Migration } from '../migrate.js';
import { withFile } from '../with-file.js';
import { salvageInto, type SalvageNote } from './salvage.js';

/** Names the files of a damaged database until its successor is in place: a start that was killed goes on where it was. */
const markerOf = (path: string): string => `${path}.replacing`;
const checkMarkerOf = (path: string): string => `${path}.check`;

/** Asks the next start for a full check, as after an error of SQLite that tells of damage. */
export function requestFullCheck(path: string): void {
  writeFileSync(checkMarkerOf(path), '', { mode: 0o600 });
}

export function isFullCheckRequested(path: string): boolean {
  return existsSync(checkMarkerOf(path));
}

export function fullCheckDone(path: string): void {
  rmSync(checkMarkerOf(path), { force: true });
}

/** Moves a damaged database aside, never deletes it, and puts a new one in its place with all that can be read of it. */
export function replaceDamaged(path: string, migrations: Migration[], nowMs: number): SalvageNote | undefined {
  const time = new Date(nowMs).toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const name = `${path}.corrupt-${time}`;
  let movedTo = name;
  for (let copy = 2; existsSync(movedTo); copy++) movedTo = `${name}-${copy}`;
  withFile(markerOf(path), 'w', (fd) => {
    writeFileSync(fd, movedTo);
    fsyncSync(fd);
  });
  return finishReplacing(path, migrations);
}

/** Goes on with a replacement that was begun; undefined when there is none. */
export function finishReplacing(path: string, migrations: Migration[]): SalvageNote | undefined {
  const marker = markerOf(path);
  if (!existsSync(marker)) return undefined;
  const movedTo = readFileSync(marker, 'utf8');
  // An empty marker: killed before anything was moved.
  const isMoved = movedTo !== '' && existsSync(movedTo);
  let note: SalvageNote | undefined;
  if (movedTo !== '' && !isMoved) moveAside(path, movedTo);
  if (movedTo !== '' && !existsSync(path)) {
    const unfinished = `${path}.salvaged`;
    for (const end of ['', '-journal']) rmSync(`${unfinished}${end}`, { force: true });
    closeSync(openSync(unfinished, 'w', 0o600));
    const salvaged = salvageInto(unfinished, movedTo, migrations);
    note = salvaged.note;
    keepOrphanedFiles(join(dirname(path), 'artifacts'), `artifacts${movedTo.slice(path.length)}`, salvaged.files);
    withFile(unfinished, 'r', fsyncSync);
    renameSync(unfinished, path);
    withFile(dirname(path), 'r', fsyncSync);
  }
  rmSync(marker, { force: true });
  return note;
}

/** The database last: until then it is known by its old name. */
function moveAside(path: string, movedTo: string): void {
  for (const end of ['-wal', '-shm', '']) if (existsSync(path + end)) renameSync(path + end, movedTo + end);
  withFile(dirname(path), 'r', fsyncSync);
}

/** Keeps files that a damaged table of artifacts does not name any more from being swept. */
function keepOrphanedFiles(dir: string, asideName: string, known: ReadonlySet<string>): void {
  if (!existsSync(dir)) return;
  const aside = join(dirname(dir), asideName);
  for (const file of readdirSync(dir)) {
    if (known.has(file)) continue;
    mkdirSync(aside, { recursive: true, mode: 0o700 });
    renameSync(join(dir, file), join(aside, file));
  }
}
