import { randomBytes } from 'node:crypto';
import { constants, lstatSync, readlinkSync, renameSync, type BigIntStats } from 'node:fs';
import { access, chmod, mkdir, open, readlink, unlink, type FileHandle } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { limits } from '../../protocol/limits.js';
import { faultOf, isFault } from './file-paths.js';
import { isOfKernel, notPlain, openPinned, readWhole, realPathOf, through, type Refuses } from './pinned-files.js';
import { O_PATH } from '../../machine/system-calls.js';
import { digestOf, stampOf, type ReadMark } from './read-marks.js';

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_RDONLY, O_WRONLY } = constants;
const ownRights = 0o777;
const allRights = 0o7777;

/** The place that a file is to be written to: a directory that stays the same one, and a name in it that is not a link. */
export interface Target extends AsyncDisposable {
  realPath: string;
  current: Current | undefined;
  pin: FileHandle;
  realDir: string;
  /** Directories that are still to be made, below the pinned one. */
  missing: string[];
  name: string;
}

/** What is there now. */
interface Current {
  mark: ReadMark;
  stat: BigIntStats;
  /** Undefined when it is too large to be looked at whole. */
  bytes: Buffer | undefined;
  /** Why nothing of it may be told. */
  untold: string | undefined;
}

/** Says which bytes an approval was about, and where they were. */
export function basisOf({ current, realPath }: Target): string {
  return `${current === undefined ? 'absent' : (current.mark.digest ?? current.mark.stamp)} ${realPath}`;
}

/**
 * Finds and judges where a write to `path` goes. Links are followed one by one, and each place is judged by its real path.
 * A string says why not, as the end of a sentence. Nothing is changed.
 */
export async function findTarget(path: string, refuses: Refuses): Promise<Target | string> {
  try {
    let wanted = path;
    for (let hops = 0; hops <= limits.linkHopsMax; hops++) {
      const found = await lookAt(wanted, refuses);
      if (typeof found === 'string' || !('link' in found)) return found;
      wanted = found.link;
    }
    return 'is a circle of links';
  } catch (error) {
    return faultOf(error);
  }
}

async function lookAt(path: string, refuses: Refuses): Promise<Target | { link: string } | string> {
  const name = basename(path);
  if (!isName(name)) return 'is a directory';
  const parent = await pinParent(dirname(path));
  if (typeof parent === 'string') return parent;
  const { pin, realDir, missing } = parent;
  let kept = false;
  try {
    const realPath = [realDir === '/' ? '' : realDir, ...missing, name].join('/');
    const target = { realPath, pin, realDir, missing, name, [Symbol.asyncDispose]: () => pin.close() };
    const place = missing.length === 0 ? await pinName(pin, name) : undefined;
    try {
      const stat = await place?.stat({ bigint: true });
      // Not judged yet: only where it leads to is written.
      if (stat?.isSymbolicLink()) return { link: linkedPath(realDir, await readlink(through(pin, name))) };
      const why = refuses('write', realPath);
      if (why !== undefined) return `may not be written: ${why}`;
      if (await isOfKernel(pin)) return 'is in a directory of the kernel, where no file can be written';
      const current = place === undefined || stat === undefined ? undefined : await lookInside(place, stat, refuses('read', realPath));
      if (typeof current === 'string') return current;
      kept = true;
      return { ...target, current };
    } finally {
      await place?.close();
    }
  } finally {
    if (!kept) await pin.close();
  }
}

function isName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..';
}

/** Not resolved: what `..` means behind a link is for the kernel to say. */
function linkedPath(realDir: string, link: string): string {
  return link.startsWith('/') ? link : `${realDir}/${link}`;
}

async function pinName(dir: FileHandle, name: string): Promise<FileHandle | undefined> {
  try {
    return await open(through(dir, name), O_PATH | O_NOFOLLOW);
  } catch (error) {
    if (isFault(error, 'ENOENT')) return undefined;
    throw error;
  }
}

async function lookInside(place: FileHandle, stat: BigIntStats, untold: string | undefined): Promise<Current | string> {
  const problem = await notPlain(place, stat);
  if (problem !== undefined) return problem;
  try {
    await access(through(place), constants.W_OK);
  } catch (error) {
    if (isFault(error, 'EACCES', 'EPERM')) return 'is write-protected';
    throw error;
  }
  // Even what may not be told is looked at: whether it is still the same must be known.
  const file = await openPinned(place, () => undefined).catch((error: unknown) => faultOf(error));
  if (typeof file === 'string')
    return { mark: { digest: undefined, stamp: stampOf(stat) }, stat, bytes: undefined, untold: untold ?? file };
  try {
    const bytes = await readWhole(file.handle, limits.textFileBytesMax);
    const mark = { digest: bytes && digestOf(bytes), stamp: stampOf(file.stat) };
    return { mark, stat: file.stat, bytes, untold };
  } finally {
    await file.handle.close();
  }
}

interface Parent {
  pin: FileHandle;
  realDir: string;
  missing: string[];
}

/** Pins the nearest directory above that is there. */
async function pinParent(directory: string): Promise<Parent | string> {
  const missing: string[] = [];
  let path = directory;
  while (true) {
    let pin: FileHandle;
    try {
      pin = await open(path, O_PATH | O_DIRECTORY);
    } catch (error) {
      if (!isFault(error, 'ENOENT') || dirname(path) === path) throw error;
      if (!isName(basename(path))) return 'is behind a link whose target does not exist';
      missing.unshift(basename(path));
      path = dirname(path);
      continue;
    }
    const realDir = await realPathOf(pin);
    if (realDir !== undefined) return { pin, realDir, missing };
    await pin.close();
    return 'is in a directory that was just removed';
  }
}

/**
 * Writes the file in one step: whoever looks and whatever dies finds the old one or the new one. It keeps its rights, and its
 * owner where that is possible; what is new gets those that the umask leaves. A string says why nothing was changed, as the end of a sentence.
 */
export async function replaceTarget(target: Target, bytes: Buffer, umask = 0o022): Promise<ReadMark | string> {
  try {
    const made = await makeMissing(target, umask);
    if (typeof made === 'string') return made;
    try {
      return await replaceIn(made.pin, made.realDir, target, bytes, umask);
    } finally {
      if (made.pin !== target.pin) await made.pin.close();
    }
  } catch (error) {
    return faultOf(error);
  }
}

const moved = 'was not written: its directory was just moved or replaced';
const changed = 'was not written: somebody else changed it at the same moment';

async function makeMissing({ pin, realDir, missing }: Target, umask: number): Promise<{ pin: FileHandle; realDir: string } | string> {
  let at = { pin, realDir };
  for (const name of missing) {
    const next = await makeDirectory(at.pin, name, umask).finally(() => (at.pin === pin ? undefined : at.pin.close()));
    const path = `${at.realDir === '/' ? '' : at.realDir}/${name}`;
    if (next !== undefined && (await realPathOf(next)) === path) {
      at = { pin: next, realDir: path };
      continue;
    }
    await next?.close();
    return moved;
  }
  return at;
}

async function makeDirectory(parent: FileHandle, name: string, umask: number): Promise<FileHandle | undefined> {
  let isOurs = false;
  try {
    await mkdir(through(parent, name));
    isOurs = true;
  } catch (error) {
    // Somebody else was faster, or it is a link that leads nowhere, which the next line refuses.
    if (!isFault(error, 'EEXIST')) throw error;
  }
  try {
    const made = await open(through(parent, name), O_PATH | O_DIRECTORY | O_NOFOLLOW);
    if (isOurs) await chmod(through(made), 0o777 & ~umask);
    return made;
  } catch (error) {
    if (isFault(error, 'ENOTDIR', 'ELOOP', 'ENOENT')) return undefined;
    throw error;
  }
}

async function replaceIn(pin: FileHandle, realDir: string, target: Target, bytes: Buffer, umask: number): Promise<ReadMark | string> {
  const { name, current } = target;
  const fresh = `.berth-${randomBytes(9).toString('hex')}`;
  // It is nobody else's business before it has the rights it is to have.
  const file = await open(through(pin, fresh), O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, 0o600);
  let kept = false;
  try {
    await file.writeFile(bytes);
    if (current === undefined) await file.chmod(0o666 & ~umask);
    else await keepRights(file, current.stat);
    await file.sync();
    // Nothing of ours runs between the last look and the step.
    if (readlinkSync(through(pin)) !== realDir) return moved;
    const now = lstatSync(through(pin, name), { bigint: true, throwIfNoEntry: false });
    if ((now && stampOf(now)) !== (current && stampOf(current.stat))) return changed;
    renameSync(through(pin, fresh), through(pin, name));
    kept = true;
    const mark = { digest: digestOf(bytes), stamp: stampOf(await file.stat({ bigint: true })) };
    await syncDirectory(pin);
    return mark;
  } finally {
    await file.close();
    if (!kept) await unlink(through(pin, fresh));
  }
}

async function keepRights(file: FileHandle, { uid, gid, mode }: BigIntStats): Promise<void> {
  const own = await file.stat({ bigint: true });
  let isOwned = own.uid === uid && own.gid === gid;
  if (!isOwned) {
    try {
      await file.chown(Number(uid), Number(gid));
      isOwned = true;
    } catch (error) {
      if (!isFault(error, 'EPERM', 'EINVAL')) throw error;
      await keepGroup(file, gid);
    }
  }
  // What may run as its owner or group must not do so under another one.
  await file.chmod(Number(mode) & (isOwned ? allRights : ownRights));
}

async function keepGroup(file: FileHandle, gid: bigint): Promise<void> {
  try {
    await file.chown(-1, Number(gid));
  } catch (error) {
    if (!isFault(error, 'EPERM', 'EINVAL')) throw error;
  }
}

async function syncDirectory(pin: FileHandle): Promise<void> {
  try {
    const directory = await open(through(pin), O_RDONLY | O_DIRECTORY);
    await directory.sync().finally(() => directory.close());
  } catch (error) {
    // A directory that may be written but not listed cannot be synced, and some file systems know no such thing.
    if (!isFault(error, 'EACCES', 'EINVAL', 'ENOTSUP')) throw error;
  }
}
