import { randomBytes } from 'node:crypto';
import { constants, lstatSync, readlinkSync, renameSync, type BigIntStats } from 'node:fs';
import { access, chmod, mkdir, open, readlink, unlink, type FileHandle } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { limits } from '../../protocol/limits.js';
import { faultOf, isFault } from './file-paths.js';
import { isKernelFile, whyNotRegularFile, openPinned, readWhole, realPathOf, descriptorPath, type Refuses } from './pinned-files.js';
import { O_PATH } from '../../machine/system-calls.js';
import { sha256Of, stampOf, type ReadMark } from './read-marks.js';

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_RDONLY, O_WRONLY } = constants;
const permissionBits = 0o777;
const modeBits = 0o7777;

/** The target of a write: an O_PATH descriptor of the directory, which survives renames, and a name in it that is not a symlink. */
export interface Target extends AsyncDisposable {
  realPath: string;
  current: Current | undefined;
  pin: FileHandle;
  realDir: string;
  /** Directories to create below the pinned one. */
  missing: string[];
  name: string;
}

/** The file that a write replaces. */
interface Current {
  mark: ReadMark;
  stat: BigIntStats;
  /** Undefined when the file is too large to be read whole. */
  bytes: Buffer | undefined;
  /** Why the policy forbids showing any of the content. */
  readRefusal: string | undefined;
}

/** The basis of an approval: digest and real path of the file, so that a changed file needs a new approval. */
export function basisOf({ current, realPath }: Target): string {
  return `${current === undefined ? 'absent' : (current.mark.digest ?? current.mark.stamp)} ${realPath}`;
}

/**
 * Resolves the target of a write to `path` and asks the policy about it. Symlinks are followed one hop at a time, and the policy judges the
 * real path at the end. A string says why not, as the end of a sentence. Nothing is changed.
 */
export async function findTarget(path: string, refuses: Refuses): Promise<Target | string> {
  try {
    let wanted = path;
    for (let hops = 0; hops <= limits.linkHopsMax; hops++) {
      const found = await resolveTarget(wanted, refuses);
      if (typeof found === 'string' || !('link' in found)) return found;
      wanted = found.link;
    }
    return 'is a loop of symbolic links';
  } catch (error) {
    return faultOf(error);
  }
}

async function resolveTarget(path: string, refuses: Refuses): Promise<Target | { link: string } | string> {
  const name = basename(path);
  if (!isName(name)) return 'is a directory';
  const parent = await pinParent(dirname(path));
  if (typeof parent === 'string') return parent;
  const { pin, realDir, missing } = parent;
  let isReturned = false;
  try {
    const realPath = [realDir === '/' ? '' : realDir, ...missing, name].join('/');
    const target = { realPath, pin, realDir, missing, name, [Symbol.asyncDispose]: () => pin.close() };
    const pinned = missing.length === 0 ? await pinName(pin, name) : undefined;
    try {
      const stat = await pinned?.stat({ bigint: true });
      // The policy judges the target of a symlink, not the symlink: only the target is written.
      if (stat?.isSymbolicLink()) return { link: linkedPath(realDir, await readlink(descriptorPath(pin, name))) };
      const why = refuses('write', realPath);
      if (why !== undefined) return `may not be written: ${why}`;
      if (await isKernelFile(pin)) return 'is in a pseudo directory of the kernel (/proc, /sys), where no file can be written';
      const current = pinned === undefined || stat === undefined ? undefined : await readCurrent(pinned, stat, refuses('read', realPath));
      if (typeof current === 'string') return current;
      isReturned = true;
      return { ...target, current };
    } finally {
      await pinned?.close();
    }
  } finally {
    if (!isReturned) await pin.close();
  }
}

function isName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..';
}

/** The target of a symlink, not normalized: only the kernel knows what `..` means behind another symlink. */
function linkedPath(realDir: string, link: string): string {
  return link.startsWith('/') ? link : `${realDir}/${link}`;
}

async function pinName(dir: FileHandle, name: string): Promise<FileHandle | undefined> {
  try {
    return await open(descriptorPath(dir, name), O_PATH | O_NOFOLLOW);
  } catch (error) {
    if (isFault(error, 'ENOENT')) return undefined;
    throw error;
  }
}

async function readCurrent(pinned: FileHandle, stat: BigIntStats, readRefusal: string | undefined): Promise<Current | string> {
  const problem = await whyNotRegularFile(pinned, stat);
  if (problem !== undefined) return problem;
  try {
    await access(descriptorPath(pinned), constants.W_OK);
  } catch (error) {
    if (isFault(error, 'EACCES', 'EPERM')) return 'is write-protected';
    throw error;
  }
  // A file whose content may not be shown is read all the same: its digest detects changes.
  const file = await openPinned(pinned, () => undefined).catch((error: unknown) => faultOf(error));
  if (typeof file === 'string')
    return { mark: { digest: undefined, stamp: stampOf(stat) }, stat, bytes: undefined, readRefusal: readRefusal ?? file };
  try {
    const bytes = await readWhole(file.handle, limits.textFileBytesMax);
    const mark = { digest: bytes && sha256Of(bytes), stamp: stampOf(file.stat) };
    return { mark, stat: file.stat, bytes, readRefusal };
  } finally {
    await file.handle.close();
  }
}

interface Parent {
  pin: FileHandle;
  realDir: string;
  missing: string[];
}

/** Opens (O_PATH) the nearest ancestor directory that exists. */
async function pinParent(directory: string): Promise<Parent | string> {
  const missing: string[] = [];
  let path = directory;
  while (true) {
    let pin: FileHandle;
    try {
      pin = await open(path, O_PATH | O_DIRECTORY);
    } catch (error) {
      if (!isFault(error, 'ENOENT') || dirname(path) === path) throw error;
      if (!isName(basename(path))) return 'is behind a symbolic link whose target does not exist';
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
 * Replaces the file atomically (temp file, fsync, rename): readers and crashes see the old file or the new one. The mode is kept, and the
 * owner where possible; a new file gets the mode that the umask leaves. A string says why nothing was changed, as the end of a sentence.
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

const directoryMoved = 'was not written: its directory was moved or replaced at the same moment. Try again';
const fileChanged = 'was not written: another process changed it at the same moment. Read it again';

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
    return directoryMoved;
  }
  return at;
}

async function makeDirectory(parent: FileHandle, name: string, umask: number): Promise<FileHandle | undefined> {
  let isOurs = false;
  try {
    await mkdir(descriptorPath(parent, name));
    isOurs = true;
  } catch (error) {
    // Another process created the directory first, or the name is a dangling symlink, which O_NOFOLLOW below refuses.
    if (!isFault(error, 'EEXIST')) throw error;
  }
  try {
    const made = await open(descriptorPath(parent, name), O_PATH | O_DIRECTORY | O_NOFOLLOW);
    if (isOurs) await chmod(descriptorPath(made), 0o777 & ~umask);
    return made;
  } catch (error) {
    if (isFault(error, 'ENOTDIR', 'ELOOP', 'ENOENT')) return undefined;
    throw error;
  }
}

async function replaceIn(pin: FileHandle, realDir: string, target: Target, bytes: Buffer, umask: number): Promise<ReadMark | string> {
  const { name, current } = target;
  const tempName = `.berth-${randomBytes(9).toString('hex')}`;
  // Mode 0600 until the final mode is set: no other user reads the temp file.
  const file = await open(descriptorPath(pin, tempName), O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, 0o600);
  let isRenamed = false;
  try {
    await file.writeFile(bytes);
    if (current === undefined) await file.chmod(0o666 & ~umask);
    else await keepRights(file, current.stat);
    await file.sync();
    // Synchronous calls from the last check to the rename: nothing else in this process runs in between.
    if (readlinkSync(descriptorPath(pin)) !== realDir) return directoryMoved;
    const now = lstatSync(descriptorPath(pin, name), { bigint: true, throwIfNoEntry: false });
    if ((now && stampOf(now)) !== (current && stampOf(current.stat))) return fileChanged;
    renameSync(descriptorPath(pin, tempName), descriptorPath(pin, name));
    isRenamed = true;
    const mark = { digest: sha256Of(bytes), stamp: stampOf(await file.stat({ bigint: true })) };
    await syncDirectory(pin);
    return mark;
  } finally {
    await file.close();
    if (!isRenamed) await unlink(descriptorPath(pin, tempName));
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
  // A setuid or setgid bit must not survive a change of owner.
  await file.chmod(Number(mode) & (isOwned ? modeBits : permissionBits));
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
    const directory = await open(descriptorPath(pin), O_RDONLY | O_DIRECTORY);
    await directory.sync().finally(() => directory.close());
  } catch (error) {
    // fsync of a directory fails where it may not be listed, and some file systems do not support it.
    if (!isFault(error, 'EACCES', 'EINVAL', 'ENOTSUP')) throw error;
  }
}
