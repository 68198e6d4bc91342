import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { rotatedLogs } from '../../machine/log-files.js';
import { isSystemError } from '../../machine/system-calls.js';
import { limits } from '../../protocol/limits.js';

export interface LogFile {
  /** Appends a line of JSON, which ends with a newline. Never throws for a file that cannot be written: the line is lost, and counted. */
  write(line: string): void;
}

const { O_RDWR, O_APPEND, O_CREAT, O_NONBLOCK, O_NOCTTY } = constants;
/** How much of the first line is read for its time. */
const tuning = { headBytes: 256 } as const;

interface Opened {
  descriptor: number;
  /** Rotation is for regular files: a log may be a link to a device. */
  isFile: boolean;
  begunAt: number;
}

/**
 * A log that is rotated when it is too long or too old, to `.1`, `.2` and so on. It is written synchronously, so that the last words before an
 * exit are in it. After an error (ENOSPC, EIO) the file is opened again for the next line, and the first that is written after it is how many
 * were lost.
 */
export function createLogFile(path: string, now: () => number): LogFile {
  let opened: Opened | undefined;
  let lost = 0;
  let why = '';

  function open(): Opened {
    // O_NONBLOCK: a FIFO without a reader does not stop the daemon.
    const descriptor = openSync(path, O_RDWR | O_APPEND | O_CREAT | O_NONBLOCK | O_NOCTTY, 0o600);
    const stat = fstatSync(descriptor);
    if (!stat.isFile()) return { descriptor, isFile: false, begunAt: now() };
    if ((stat.mode & 0o077) !== 0 && stat.uid === process.getuid?.()) fchmodSync(descriptor, 0o600);
    const head = Buffer.alloc(tuning.headBytes);
    const time = /"time":(\d+)/.exec(head.toString('latin1', 0, readSync(descriptor, head, 0, head.length, 0)))?.[1];
    return { descriptor, isFile: true, begunAt: time === undefined ? now() : Number(time) };
  }

  function close(): void {
    if (opened) closeSync(opened.descriptor);
    opened = undefined;
  }

  /** The file to write so many bytes to: the one that the path names, with room. */
  function prepare(bytes: number): { descriptor: number; isLineOpen: boolean } {
    // Removed by a person: what is written to it would be in no file.
    if (opened?.isFile && fstatSync(opened.descriptor).nlink === 0) close();
    opened ??= open();
    if (!opened.isFile) return { descriptor: opened.descriptor, isLineOpen: false };
    let { size } = fstatSync(opened.descriptor);
    if (size > 0 && (size + bytes > limits.logFileBytesMax || now() - opened.begunAt > limits.logFileAgeMs)) {
      rotate(opened.descriptor);
      close();
      opened = open();
      ({ size } = fstatSync(opened.descriptor));
    }
    return { descriptor: opened.descriptor, isLineOpen: size > 0 && lastByte(opened.descriptor, size) !== 0x0a };
  }

  function rotate(descriptor: number): void {
    try {
      const files = rotatedLogs(path);
      for (let at = files.length - 1; at > 0; at--) renameIfThere(files[at - 1] ?? path, files[at] ?? path);
      for (const file of files.slice(1)) removeIfOld(file);
    } catch (error) {
      if (!isSystemError(error)) throw error;
      // It cannot be renamed (EACCES): the bound holds all the same.
      ftruncateSync(descriptor);
    }
  }

  function removeIfOld(file: string): void {
    const mtimeMs = statSync(file, { throwIfNoEntry: false })?.mtimeMs;
    if (mtimeMs !== undefined && now() - mtimeMs > limits.olderLogAgeMs) rmSync(file);
  }

  function append(text: string): void {
    const bytes = Buffer.from(text);
    const { descriptor, isLineOpen } = prepare(bytes.length);
    // A crash or a full disk may have cut a line.
    const whole = isLineOpen ? Buffer.concat([Buffer.from('\n'), bytes]) : bytes;
    for (let at = 0; at < whole.length;) at += writeSync(descriptor, whole, at);
  }

  return {
    write(line) {
      try {
        append(lost === 0 ? line : `${lossLine()}${line}`);
        lost = 0;
      } catch (error) {
        if (!isSystemError(error)) throw error;
        lost++;
        why = error.code;
        close();
      }
    },
  };

  function lossLine(): string {
    const msg = `lines of this log could not be written: ${why}`;
    return `${JSON.stringify({ level: 40, time: now(), pid: process.pid, lines: lost, msg })}\n`;
  }
}

function renameIfThere(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

function lastByte(descriptor: number, size: number): number | undefined {
  const byte = Buffer.alloc(1);
  return readSync(descriptor, byte, 0, 1, size - 1) === 1 ? byte[0] : undefined;
}
