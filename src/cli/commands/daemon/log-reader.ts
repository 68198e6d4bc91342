import { closeSync, fstatSync, openSync, readSync, statSync, watch } from 'node:fs';
import { dirname } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { rotatedLogs } from '../../../machine/log-files.js';
import { limits } from '../../../protocol/limits.js';
import { Refused } from '../../exit.js';
import { shortenHome } from '../../home-path.js';

const tuning = { chunkBytes: 64 * 1024 } as const;

/** The newest lines of a log and of those that it was rotated to, and where the newest file was read to. The descriptor is open. */
export function readNewestLines(path: string, count: number): { lines: string[]; descriptor: number; size: number } {
  const descriptor = openLog(path);
  const { size } = fstatSync(descriptor);
  let room: number = limits.logTailBytesMax;
  let { lines } = readTail(descriptor, size, count, room);
  room -= size;
  for (const older of rotatedLogs(path).slice(1)) {
    if (lines.length >= count || room <= 0) break;
    const olderDescriptor = openIfThere(older);
    if (olderDescriptor === undefined) continue;
    const olderSize = fstatSync(olderDescriptor).size;
    lines = [...readTail(olderDescriptor, olderSize, count - lines.length, room).lines, ...lines];
    room -= olderSize;
    closeSync(olderDescriptor);
  }
  return { lines, descriptor, size };
}

function openLog(path: string): number {
  const descriptor = openIfThere(path);
  if (descriptor === undefined) throw new Refused(`there is no log yet: ${shortenHome(path)} does not exist`);
  return descriptor;
}

function openIfThere(path: string): number | undefined {
  try {
    return openSync(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new Refused(`cannot read ${path}: ${(error as Error).message}`);
  }
}

/** The last lines of a file, of so many of its last bytes. */
function readTail(descriptor: number, size: number, count: number, bytesMax: number): { lines: string[] } {
  const chunks: Buffer[] = [];
  let at = size;
  let ends = 0;
  while (at > 0 && ends <= count && size - at < bytesMax) {
    const length = Math.min(tuning.chunkBytes, at);
    at -= length;
    const chunk = Buffer.alloc(length);
    readSync(descriptor, chunk, 0, length, at);
    ends += chunk.reduce((sum, byte) => (byte === 0x0a ? sum + 1 : sum), 0);
    chunks.unshift(chunk);
  }
  const lines = Buffer.concat(chunks).toString('utf8').split('\n');
  // Drops the empty text after the last line, and a partial first line.
  if (lines.at(-1) === '') lines.pop();
  if (at > 0) lines.shift();
  return { lines: count === 0 ? [] : lines.slice(-count) };
}

/**
 * Follows a log from where it was read to, like tail -F: through rotations, of which none is missed as long as the file that was read last is
 * among the rotated ones. A file that was replaced or truncated is read from its beginning. Never resolves.
 */
export async function followLog(path: string, from: { descriptor: number; size: number }, show: (line: string) => void): Promise<never> {
  let { descriptor, size: at } = from;
  let decoder = new StringDecoder('utf8');
  let rest = '';
  const chunk = Buffer.alloc(tuning.chunkBytes);

  function goOnWith(file: string): void {
    const next = openIfThere(file);
    if (next === undefined) return;
    closeSync(descriptor);
    descriptor = next;
    at = 0;
    if (rest !== '') show(rest);
    decoder = new StringDecoder('utf8');
    rest = '';
  }

  function drain(): void {
    if (fstatSync(descriptor).size < at) at = 0;
    for (let count = 1; count > 0; at += count) {
      count = readSync(descriptor, chunk, 0, chunk.length, at);
      const lines = (rest + decoder.write(chunk.subarray(0, count))).split('\n');
      rest = lines.pop() ?? '';
      lines.forEach(show);
    }
  }

  /** The files that are newer than the open one, oldest first. */
  function newerLogs(): string[] {
    const files = rotatedLogs(path);
    const { ino, dev } = fstatSync(descriptor);
    const place = files.findIndex((file) => {
      const stat = statSync(file, { throwIfNoEntry: false });
      return stat?.ino === ino && stat.dev === dev;
    });
    return place === -1 ? [path] : files.slice(0, place).toReversed();
  }

  function readOn(): void {
    drain();
    for (const file of newerLogs()) {
      goOnWith(file);
      drain();
    }
  }

  return new Promise((_, reject) => {
    const watcher = watch(dirname(path), () => {
      try {
        readOn();
      } catch (error) {
        watcher.close();
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    });
    watcher.on('error', reject);
    readOn();
  });
}
