import { writeSync } from 'node:fs';
import { isatty } from 'node:tty';
import { exit } from '../exit.js';

const tuning = { retryMs: 5 } as const;
const never = new Int32Array(new SharedArrayBuffer(4));

/** Writes all of a text to standard output, or ends the process quietly when nobody reads any more. */
export function writeOut(text: string): void {
  write(1, text);
}

export function writeErr(text: string): void {
  write(2, text);
}

/** Synchronous and without a stream: `process.stdout` takes a tenth of the start of a command to make. */
function write(descriptor: 1 | 2, text: string): void {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length;) {
    try {
      at += writeSync(descriptor, bytes, at);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EPIPE' || code === 'EIO') process.exit(descriptor === 1 ? exit.ok : (process.exitCode ?? exit.internal));
      if (code !== 'EAGAIN') throw error;
      // Somebody made the descriptor non-blocking, and its reader is slow.
      Atomics.wait(never, 0, 0, tuning.retryMs);
    }
  }
}

/** Is standard output a terminal? */
export function isTerminal(): boolean {
  return isatty(1);
}

/** How wide lines may be: the width of the terminal, or anything where there is none. */
export function outputColumns(): number {
  return isatty(1) ? process.stdout.columns : Infinity;
}

/** Colours are for people at a terminal who did not ask for none. */
export function isColoured(): boolean {
  return isatty(1) && (process.env.NO_COLOR ?? '') === '' && process.env.TERM !== 'dumb';
}
