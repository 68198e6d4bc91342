import { writeSync } from 'node:fs';
import { isatty } from 'node:tty';
import { exit, Refused } from '../exit.js';

const tuning = { retryMs: 5 } as const;
const sleepCell = new Int32Array(new SharedArrayBuffer(4));

/** Writes a text to standard output, synchronously. Exits quietly on EPIPE. */
export function writeOut(text: string): void {
  write(1, text);
}

export function writeErr(text: string): void {
  write(2, text);
}

/** Writes to the descriptor directly: creating `process.stdout` takes a tenth of the startup time. */
function write(descriptor: 1 | 2, text: string): void {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length;) {
    try {
      at += writeSync(descriptor, bytes, at);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EPIPE' || code === 'EIO') process.exit(descriptor === 1 ? exit.ok : (process.exitCode ?? exit.internal));
      if (code === 'ENOSPC' || code === 'EDQUOT') {
        // What is said beside the answer is not worth the answer.
        if (descriptor === 2) return;
        throw new Refused('the disk that standard output goes to is full', { cause: error });
      }
      if (code !== 'EAGAIN') throw error;
      // EAGAIN: the descriptor is non-blocking, and its reader is slow.
      Atomics.wait(sleepCell, 0, 0, tuning.retryMs);
    }
  }
}

/** Whether standard output, or another stream, is a terminal. */
export function isTerminal(descriptor: 1 | 2 = 1): boolean {
  return isatty(descriptor);
}

/** Whether a person can be asked: standard input is a terminal, and standard error shows what is asked. */
export function isPersonThere(): boolean {
  return isatty(0) && isatty(2);
}

/** Whether the terminal knows no escape sequences, or nobody says which it is. */
export function isDumb(): boolean {
  return (process.env.TERM ?? 'dumb') === 'dumb';
}

/** The width of the terminal; Infinity when the stream is none. */
export function outputColumns(descriptor: 1 | 2 = 1): number {
  if (!isatty(descriptor)) return Infinity;
  return (descriptor === 1 ? process.stdout : process.stderr).columns;
}

/** Whether to use colours: on a terminal, without NO_COLOR. */
export function isColoured(descriptor: 1 | 2 = 1): boolean {
  return isatty(descriptor) && (process.env.NO_COLOR ?? '') === '' && !isDumb();
}
