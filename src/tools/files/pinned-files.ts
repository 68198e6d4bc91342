import { constants, type BigIntStats } from 'node:fs';
import { lstat, open, readlink, statfs, type FileHandle } from 'node:fs/promises';
import { O_PATH } from '../../machine/system-calls.js';
import { limits } from '../../protocol/limits.js';
import { faultOf } from './file-paths.js';
import type { Reach } from '../port.js';

const { O_RDONLY, O_NONBLOCK, O_NOCTTY } = constants;

/** File systems whose files are doors into the kernel: /proc, /sys and what is mounted below them. */
const kernelFileSystems = new Set([0x9fa0, 0x62656572, 0x27e0eb, 0x63677270, 0x64626720, 0x74726163, 0x73636673, 0xcafe4a11, 0xde5e81e4]);

export type Refuses = Reach['refuses'];

/** A file that was judged by its real path and can be read. Whoever gets it closes it. */
export interface OpenFile {
  handle: FileHandle;
  realPath: string;
  stat: BigIntStats;
}

/** The way to whatever a handle was opened on, whatever its name means by now. */
export function through(pin: FileHandle, name?: string): string {
  return name === undefined ? `/proc/self/fd/${pin.fd}` : `/proc/self/fd/${pin.fd}/${name}`;
}

/** Where the kernel says that something opened is; undefined when it is nowhere any more. */
export async function realPathOf(pin: FileHandle): Promise<string | undefined> {
  const path = await readlink(through(pin));
  if (!path.startsWith('/')) return undefined;
  if (!path.endsWith(' (deleted)')) return path;
  const [there, here] = await Promise.all([lstat(path, { bigint: true }).catch(() => undefined), pin.stat({ bigint: true })]);
  return there?.ino === here.ino && there.dev === here.dev ? path : undefined;
}

/** Why something that is not a plain file of a disk is left alone, as the end of a sentence; undefined when it is one. */
export async function notPlain(pin: FileHandle, stat: BigIntStats): Promise<string | undefined> {
  if (stat.isDirectory()) return 'is a directory';
  if (stat.isFIFO()) return 'is a FIFO, not a file';
  if (stat.isSocket()) return 'is a socket, not a file';
  if (!stat.isFile()) return 'is a device, not a file';
  return (await isOfKernel(pin)) ? 'is a file of the kernel; use a command to look at it' : undefined;
}

export async function isOfKernel(pin: FileHandle): Promise<boolean> {
  return kernelFileSystems.has((await statfs(through(pin))).type);
}

/**
 * Opens a file for reading. Links are followed by the kernel, the judgement is about the place that it came to, and what is read
 * is what was judged, whoever changes names meanwhile. A string says why not, as the end of a sentence.
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

/** The same for something that is pinned already. */
export async function openPinned(pin: FileHandle, refuses: Refuses): Promise<OpenFile | string> {
  const realPath = await realPathOf(pin);
  if (realPath === undefined) return 'is not a file of this machine, or was just removed';
  const why = refuses('read', realPath);
  if (why !== undefined) return `may not be read: ${why}`;
  const stat = await pin.stat({ bigint: true });
  const problem = await notPlain(pin, stat);
  if (problem !== undefined) return problem;
  return { handle: await open(through(pin), O_RDONLY | O_NONBLOCK | O_NOCTTY), realPath, stat };
}

/** A directory that was judged. Whoever gets it closes its pin. */
export async function openDirectory(path: string, refuses: Refuses): Promise<{ pin: FileHandle; realPath: string } | string> {
  try {
    const pin = await open(path, O_PATH | constants.O_DIRECTORY);
    let kept = false;
    try {
      const realPath = await realPathOf(pin);
      if (realPath === undefined) return 'is not a directory of this machine, or was just removed';
      const why = refuses('read', realPath);
      if (why !== undefined) return `may not be read: ${why}`;
      if (await isOfKernel(pin)) return 'is a directory of the kernel; use a command to look at it';
      kept = true;
      return { pin, realPath };
    } finally {
      if (!kept) await pin.close();
    }
  } catch (error) {
    return faultOf(error);
  }
}

/** Everything that is in a file, or undefined when that is more than `bytesMax`. */
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
