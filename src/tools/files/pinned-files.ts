import { constants, type BigIntStats } from 'node:fs';
import { lstat, open, readlink, statfs, type FileHandle } from 'node:fs/promises';
import { O_PATH } from '../../machine/system-calls.js';
import { limits } from '../../protocol/limits.js';
import { faultOf } from './file-paths.js';
import type { Reach } from '../port.js';

const { O_RDONLY, O_NONBLOCK, O_NOCTTY } = constants;

/** Magic numbers (statfs) of pseudo file systems: procfs, sysfs, cgroup, debugfs, tracefs and the like. */
const kernelFileSystems = new Set([0x9fa0, 0x62656572, 0x27e0eb, 0x63677270, 0x64626720, 0x74726163, 0x73636673, 0xcafe4a11, 0xde5e81e4]);

export type Refuses = Reach['refuses'];

/** An open file that the policy allowed by its real path. The caller closes the handle. */
export interface OpenFile {
  handle: FileHandle;
  realPath: string;
  stat: BigIntStats;
}

/** The /proc path of an open descriptor: the same inode, even after a rename. Prevents TOCTOU races. */
export function descriptorPath(pin: FileHandle, name?: string): string {
  return name === undefined ? `/proc/self/fd/${pin.fd}` : `/proc/self/fd/${pin.fd}/${name}`;
}

/** The real path of an open descriptor, as the kernel reports it; undefined when the file was deleted. */
export async function realPathOf(pin: FileHandle): Promise<string | undefined> {
  const path = await readlink(descriptorPath(pin));
  if (!path.startsWith('/')) return undefined;
  if (!path.endsWith(' (deleted)')) return path;
  const [there, here] = await Promise.all([lstat(path, { bigint: true }).catch(() => undefined), pin.stat({ bigint: true })]);
  return there?.ino === here.ino && there.dev === here.dev ? path : undefined;
}

/** Why an inode is not a regular file on disk, as the end of a sentence; undefined when it is one. */
export async function whyNotRegularFile(pin: FileHandle, stat: BigIntStats): Promise<string | undefined> {
  if (stat.isDirectory()) return 'is a directory';
  if (stat.isFIFO()) return 'is a FIFO, not a file';
  if (stat.isSocket()) return 'is a socket, not a file';
  if (!stat.isFile()) return 'is a device, not a file';
  return (await isKernelFile(pin)) ? 'is a pseudo file of the kernel (/proc, /sys); use a command to read it' : undefined;
}

export async function isKernelFile(pin: FileHandle): Promise<boolean> {
  return kernelFileSystems.has((await statfs(descriptorPath(pin))).type);
}

/**
 * Opens a file for reading without a TOCTOU race: the kernel follows symlinks, the policy judges the real path of the descriptor, and the
 * same descriptor is read. A string says why not, as the end of a sentence.
 */
export async function openFile(path: string, refuses: Refuses): Promise<OpenFile | string> {
  try {
    const pin = await open(path, O_PATH);
    try {
      return await openPinned(pin, refuses);
    } finally {
      await pin.close();
    }
  } catch (error) {
    return faultOf(error);
  }
}

/** Opens the file of an O_PATH descriptor for reading, under the same checks as `openFile`. */
export async function openPinned(pin: FileHandle, refuses: Refuses): Promise<OpenFile | string> {
  const realPath = await realPathOf(pin);
  if (realPath === undefined) return 'is not a file of this machine, or was just removed';
  const why = refuses('read', realPath);
  if (why !== undefined) return `may not be read: ${why}`;
  const stat = await pin.stat({ bigint: true });
  const problem = await whyNotRegularFile(pin, stat);
  if (problem !== undefined) return problem;
  return { handle: await open(descriptorPath(pin), O_RDONLY | O_NONBLOCK | O_NOCTTY), realPath, stat };
}

/** Opens a directory (O_PATH) that the policy allows by its real path. The caller closes `pin`. */
export async function openDirectory(path: string, refuses: Refuses): Promise<{ pin: FileHandle; realPath: string } | string> {
  try {
    const pin = await open(path, O_PATH | constants.O_DIRECTORY);
    let isReturned = false;
    try {
      const realPath = await realPathOf(pin);
      if (realPath === undefined) return 'is not a directory of this machine, or was just removed';
      const why = refuses('read', realPath);
      if (why !== undefined) return `may not be read: ${why}`;
      if (await isKernelFile(pin)) return 'is a pseudo directory of the kernel (/proc, /sys); use a command to list it';
      isReturned = true;
      return { pin, realPath };
    } finally {
      if (!isReturned) await pin.close();
    }
  } catch (error) {
    return faultOf(error);
  }
}

/** The content of a file; undefined when the file is larger than `bytesMax`. */
export async function readWhole(handle: FileHandle, bytesMax: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  while (true) {
    const chunk = Buffer.allocUnsafe(Math.min(limits.fileChunkBytes, bytesMax + 1 - size));
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, size);
    if (bytesRead === 0) return Buffer.concat(chunks, size);
    size += bytesRead;
    if (size > bytesMax) return undefined;
    chunks.push(chunk.subarray(0, bytesRead));
  }
}
