import { fstatSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { isatty } from 'node:tty';
import { limits } from '../../protocol/limits.js';
import { Refused } from '../exit.js';

/** Delay of the hint that standard input is being read. */
const tuning = { hintMs: 1_000 } as const;

/** The longest text of a message: with what encloses it, it fits a line of the protocol. */
export const sentTextBytesMax = limits.lineBytesMax - limits.envelopeMarginBytes;

/** What standard input is: `none` is something without an end to read to, such as /dev/null. */
type InputKind = 'terminal' | 'file' | 'pipe' | 'socket' | 'none';

function inputKind(): InputKind {
  if (isatty(0)) return 'terminal';
  const stdin = fstatSync(0);
  if (stdin.isFile()) return 'file';
  if (stdin.isFIFO()) return 'pipe';
  return stdin.isSocket() ? 'socket' : 'none';
}

/** Whether standard input is something to read to its end, as against a terminal or /dev/null. */
export function hasInput(): boolean {
  return ['file', 'pipe', 'socket'].includes(inputKind());
}

/** Whether standard input is a file or a pipe of a shell. */
export function hasPipedInput(): boolean {
  return ['file', 'pipe'].includes(inputKind());
}

/** All of standard input as text. Says so when that takes long, and when a part of it is no text; refuses what no message can hold. */
export async function readStdin(notice: (line: string) => void, hint = 'reading standard input until it ends'): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  const timer = isatty(0) ? undefined : setTimeout(() => notice(hint), tuning.hintMs);
  try {
    for await (const piece of process.stdin as AsyncIterable<Buffer>) {
      bytes += piece.length;
      if (bytes > sentTextBytesMax) throw tooLong();
      pieces.push(piece);
    }
  } finally {
    clearTimeout(timer);
  }
  return decode(Buffer.concat(pieces), notice);
}

/**
 * What is piped in beside an argument. A socket is what programs leave open that start others, so that one without a word is not waited for;
 * a pipe or a file is, because whoever made it meant it.
 */
export async function readPipedBeside(notice: (line: string) => void): Promise<string> {
  if (!hasInput()) return '';
  if (inputKind() === 'socket' && !(await speaks())) {
    notice(`nothing came on standard input in ${limits.pipedInputWaitMs / 1_000} s; going on without it`);
    return '';
  }
  return readStdin(notice, 'waiting for standard input to end, which goes with the text; with </dev/null there is none');
}

/** Whether standard input has a first byte, or its end, soon. */
async function speaks(): Promise<boolean> {
  const spoken = new Promise<true>((resolve) => {
    process.stdin.once('readable', () => resolve(true)).once('end', () => resolve(true));
  });
  return Promise.race([spoken, delay(limits.pipedInputWaitMs, false)]);
}

function tooLong(): Refused {
  return new Refused(`standard input is too long to send: it must be below ${sentTextBytesMax} bytes; name a file in the text instead`);
}

function decode(bytes: Buffer, notice: (line: string) => void): string {
  const text = bytes.toString('utf8');
  if (!Buffer.from(text).equals(bytes)) notice('standard input is not all UTF-8; what is not is replaced by \ufffd');
  return text;
}
