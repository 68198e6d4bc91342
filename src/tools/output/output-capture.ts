import { close, openSync, rmSync, write as writeFile, writeSync } from 'node:fs';
import { promisify } from 'node:util';
import { limits } from '../../protocol/limits.js';
import { cleanText, truncateLongLines, isBinary } from './clean-text.js';
import { incompleteUtf8Tail, incompleteUtf8Head, createTailBuffer } from './tail-buffer.js';
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
  /** Write the file from the first byte on, for background output that is polled in chunks. */
  wholeFile?: boolean;
}

/**
 * Captures unbounded program output in bounded space: head and tail in memory, all of the output in a file up to a limit, the rest only
 * counted. The file becomes an artifact when the text for the model is truncated.
 */
export function createOutputCapture({ artifacts, wholeFile = false }: OutputCaptureOptions) {
  const counts: OutputCounts = { bytes: 0, lines: 0, dropped_bytes: 0 };
  const head = createHeadBuffer(limits.outputHeadBytes);
  const tail = createTailBuffer(limits.outputTailBytes);
  let windowBytes = 0;
  let file: { id: string; path: string; fd: number; bytes: number } | undefined;
  let problem: string | undefined;
  let isArtifactNamed = false;

  function addToWindow(chunk: Buffer): void {
    windowBytes += chunk.length;
    const rest = head.push(chunk);
    if (rest.length > 0) tail.push(rest);
  }

  /** Creates the file from the buffered head and tail. */
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

  function writeToFile(chunk: Buffer): void | Promise<void> {
    const written = file && problem === undefined ? Math.min(chunk.length, limits.outputFileBytesMax - file.bytes) : 0;
    counts.dropped_bytes += chunk.length - written;
    if (file === undefined || written === 0) return;
    const { fd } = file;
    file.bytes += written;
    return writeAll(fd, chunk.subarray(0, written)).catch(giveUp);
  }

  return {
    counts,
    /** The id of the artifact, once a taken text names it. */
    artifactId: (): string | undefined => (isArtifactNamed && problem === undefined ? file?.id : undefined),
    write(chunk: Buffer): void | Promise<void> {
      counts.bytes += chunk.length;
      counts.lines += countLineEnds(chunk);
      const overflows = windowBytes + chunk.length > limits.outputHeadBytes + limits.outputTailBytes;
      if (file === undefined && problem === undefined && (overflows || wholeFile)) openFile();
      addToWindow(chunk);
      return file === undefined && problem === undefined ? undefined : writeToFile(chunk);
    },
    /** The output since the last call, truncated and sanitized for the model. */
    take(ended: boolean): string {
      const all = Buffer.concat([head.bytes(), tail.bytes()]);
      const whole = windowBytes <= all.length;
      const carried = ended ? Buffer.alloc(0) : Buffer.from(all.subarray(all.length - incompleteUtf8Tail(all)));
      const first = whole ? all.subarray(0, all.length - carried.length) : withoutBrokenCharacter(head.bytes(), false);
      const last = whole ? Buffer.alloc(0) : withoutBrokenCharacter(tail.bytes(), true).subarray(0, -carried.length || undefined);
      const leftOut = windowBytes - first.length - last.length - carried.length;
      const texts = [first, last].map((bytes) => truncateLongLines(isBinary(bytes) ? '' : cleanText(bytes.toString('utf8'))));
      const binary = isBinary(first) || isBinary(last);
      const cut = texts.some((text) => text.cut > 0);
      if ((cut || binary) && file === undefined && problem === undefined) openFile();
      isArtifactNamed ||= cut || binary || !whole;
      head.clear();
      tail.clear();
      windowBytes = 0;
      if (carried.length > 0) addToWindow(carried);
      const [begin, end] = texts.map(({ text }) => text);
      const artifact = describeArtifact(ended);
      if (binary)
        return [begin, `[binary output, ${leftOut + first.length + last.length} bytes; ${artifact}]`, end]
          .filter((part) => part !== '')
          .join('\n');
      if (!whole) return `${withLineEnd(begin ?? '')}[… ${leftOut} bytes left out; ${artifact}]\n${end}`;
      return cut ? `${withLineEnd(begin ?? '')}[long lines were cut; ${artifact}]` : (begin ?? '');
    },
    /** After the last `take`: keeps a named artifact, deletes an unnamed file. */
    async end(): Promise<void> {
      if (file === undefined) return;
      await closeFile(file.fd);
      if (isArtifactNamed && problem === undefined) {
        await artifacts.keep({ id: file.id, mimeType: 'text/plain', bytes: file.bytes, droppedBytes: counts.dropped_bytes });
      } else rmSync(file.path, { force: true });
      if (!isArtifactNamed) file = undefined;
    },
  };

  function describeArtifact(ended: boolean): string {
    if (file === undefined || problem !== undefined) return `the rest could not be saved: ${problem}`;
    const when = ended ? '' : ' once it has ended';
    if (counts.dropped_bytes === 0) return `all of it with tool_output${when}, artifact ${file.id}`;
    return `the first ${file.bytes} bytes with tool_output${when}, artifact ${file.id}; ${counts.dropped_bytes} bytes were not kept`;
  }
}
export type OutputCapture = ReturnType<typeof createOutputCapture>;

function createHeadBuffer(max: number) {
  let buffer = Buffer.alloc(0);
  return {
    /** Returns the bytes that do not fit. */
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

function withoutBrokenCharacter(bytes: Buffer, atStart: boolean): Buffer {
  return atStart ? bytes.subarray(incompleteUtf8Head(bytes)) : bytes.subarray(0, bytes.length - incompleteUtf8Tail(bytes));
}

function withLineEnd(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}

function countLineEnds(chunk: Buffer): number {
  let lines = 0;
  // A loop over bytes: indexOf per line is far slower when lines are short.
  for (let i = chunk.length; i-- > 0;) if (chunk[i] === lineEnd) lines++;
  return lines;
}

const lineEnd = 10;
