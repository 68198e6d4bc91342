import { close, openSync, rmSync, write as writeFile, writeSync } from 'node:fs';
import { promisify } from 'node:util';
import { limits } from '../../protocol/limits.js';
import { cleanText, cutLines, isBinary } from './clean-text.js';
import { brokenEnd, brokenStart, createTailBuffer } from './tail-buffer.js';
import type { Artifacts } from '../port.js';

const writeTo = promisify(writeFile);
const closeFile = promisify(close);

export interface OutputCounts extends Record<string, number> {
  bytes: number;
  lines: number;
  dropped_bytes: number;
}

export interface OutputCaptureOptions {
  artifacts: Artifacts;
  /** From the first byte on, for what is read in several pieces. */
  wholeFile?: boolean;
}

/**
 * Output of a program, however much comes: the beginning and the end in memory, all of it in a file up to a bound, the rest counted.
 * The file becomes an artifact when something is left out of what the model reads.
 */
export function createOutputCapture({ artifacts, wholeFile = false }: OutputCaptureOptions) {
  const counts: OutputCounts = { bytes: 0, lines: 0, dropped_bytes: 0 };
  const head = createFirstBytes(limits.outputHeadBytes);
  const tail = createTailBuffer(limits.outputTailBytes);
  let windowBytes = 0;
  let file: { id: string; path: string; fd: number; bytes: number } | undefined;
  let problem: string | undefined;
  let mentioned = false;

  function remember(chunk: Buffer): void {
    windowBytes += chunk.length;
    const rest = head.push(chunk);
    if (rest.length > 0) tail.push(rest);
  }

  /** Begins the file with what is in memory. */
  function openFile(): void {
    try {
      const { id, path } = artifacts.begin();
      file = { id, path, fd: openSync(path, 'wx', 0o600), bytes: 0 };
      for (const part of [head.bytes(), tail.bytes()]) file.bytes += writeSync(file.fd, part);
    } catch (error) {
      giveUp(error);
    }
  }

  function giveUp(error: unknown): void {
    problem = error instanceof Error ? ((error as NodeJS.ErrnoException).code ?? error.message) : String(error);
  }

  function keepInFile(chunk: Buffer): void | Promise<void> {
    const kept = file && problem === undefined ? Math.min(chunk.length, limits.outputFileBytesMax - file.bytes) : 0;
    counts.dropped_bytes += chunk.length - kept;
    if (file === undefined || kept === 0) return;
    const { fd } = file;
    file.bytes += kept;
    return writeAll(fd, chunk.subarray(0, kept)).catch(giveUp);
  }

  return {
    counts,
    /** True for as long as the artifact is named in what was taken. */
    artifactId: (): string | undefined => (mentioned && problem === undefined ? file?.id : undefined),
    write(chunk: Buffer): void | Promise<void> {
      counts.bytes += chunk.length;
      counts.lines += countLines(chunk);
      const overflows = windowBytes + chunk.length > limits.outputHeadBytes + limits.outputTailBytes;
      if (file === undefined && problem === undefined && (overflows || wholeFile)) openFile();
      remember(chunk);
      return file === undefined && problem === undefined ? undefined : keepInFile(chunk);
    },
    /** What came since the last time, for the model. */
    take(ended: boolean): string {
      const all = Buffer.concat([head.bytes(), tail.bytes()]);
      const whole = windowBytes <= all.length;
      const carried = ended ? Buffer.alloc(0) : Buffer.from(all.subarray(all.length - brokenEnd(all)));
      const first = whole ? all.subarray(0, all.length - carried.length) : trimmed(head.bytes(), false);
      const last = whole ? Buffer.alloc(0) : trimmed(tail.bytes(), true).subarray(0, -carried.length || undefined);
      const leftOut = windowBytes - first.length - last.length - carried.length;
      const texts = [first, last].map((bytes) => cutLines(isBinary(bytes) ? '' : cleanText(bytes.toString('utf8'))));
      const binary = isBinary(first) || isBinary(last);
      const cut = texts.some((text) => text.cut > 0);
      if ((cut || binary) && file === undefined && problem === undefined) openFile();
      mentioned ||= cut || binary || !whole;
      head.clear();
      tail.clear();
      windowBytes = 0;
      if (carried.length > 0) remember(carried);
      const [begin, end] = texts.map(({ text }) => text);
      const where = whereAll(ended);
      if (binary)
        return [begin, `[binary output, ${leftOut + first.length + last.length} bytes; ${where}]`, end]
          .filter((part) => part !== '')
          .join('\n');
      if (!whole) return `${withLineEnd(begin ?? '')}[… ${leftOut} bytes left out; ${where}]\n${end}`;
      return cut ? `${withLineEnd(begin ?? '')}[long lines were cut; ${where}]` : (begin ?? '');
    },
    /** After the last take: what was named is kept, and anything else goes. */
    async end(): Promise<void> {
      if (file === undefined) return;
      await closeFile(file.fd);
      if (mentioned && problem === undefined) {
        await artifacts.keep({ id: file.id, mimeType: 'text/plain', bytes: file.bytes, droppedBytes: counts.dropped_bytes });
      } else rmSync(file.path, { force: true });
      if (!mentioned) file = undefined;
    },
  };

  function whereAll(ended: boolean): string {
    if (file === undefined || problem !== undefined) return `it could not be kept: ${problem}`;
    const when = ended ? '' : ' once it has ended';
    if (counts.dropped_bytes === 0) return `all of it with tool_output${when}, artifact ${file.id}`;
    return `the first ${file.bytes} bytes with tool_output${when}, artifact ${file.id}; ${counts.dropped_bytes} bytes were not kept`;
  }
}
export type OutputCapture = ReturnType<typeof createOutputCapture>;

function createFirstBytes(max: number) {
  let buffer = Buffer.alloc(0);
  return {
    /** Returns what there is no room for. */
    push(chunk: Buffer): Buffer {
      const taken = Math.min(chunk.length, max - buffer.length);
      if (taken > 0) buffer = Buffer.concat([buffer, chunk.subarray(0, taken)]);
      return chunk.subarray(taken);
    },
    bytes: (): Buffer => buffer,
    clear(): void {
      buffer = Buffer.alloc(0);
    },
  };
}

async function writeAll(fd: number, bytes: Buffer): Promise<void> {
  for (let done = 0; done < bytes.length;) done += (await writeTo(fd, bytes, done, bytes.length - done, null)).bytesWritten;
}

function trimmed(bytes: Buffer, atStart: boolean): Buffer {
  return atStart ? bytes.subarray(brokenStart(bytes)) : bytes.subarray(0, bytes.length - brokenEnd(bytes));
}

function withLineEnd(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}

function countLines(chunk: Buffer): number {
  let lines = 0;
  // A search per line is far slower when lines are short.
  for (let i = chunk.length; i-- > 0;) if (chunk[i] === lineEnd) lines++;
  return lines;
}

const lineEnd = 10;
