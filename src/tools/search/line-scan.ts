import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { wholeUnits } from '../../protocol/content.js';
import { limits } from '../../protocol/limits.js';
import type { Encoding } from '../files/text-files.js';

/** No character of UTF-16 is more than three bytes of UTF-8, and a pair is four. */
const keptLineBytesMax = limits.readLineCharsMax * 4;
const lineEnd = 0x0a;

export interface ScanOptions {
  encoding: Encoding;
  /** The first line that is wanted, from 1. */
  offset: number;
  limit: number;
  /** Read to the end, for the digest and the number of lines. */
  whole: boolean;
  signal: AbortSignal;
}

export interface Scan {
  lines: string[];
  /** Numbers of lines of which only the beginning is there. */
  cut: number[];
  /** The line with which what is there ends, because it is all, enough or too long. */
  last: number;
  /** Undefined when the end was not reached. */
  totalLines: number | undefined;
  digest: string | undefined;
  /** Some of it was not UTF-8. */
  isBroken: boolean;
  /** It took too long: lines up to `seen` were looked at. */
  isLate: boolean;
  seen: number;
}

/** Reads lines of an open file in one pass with little memory, however large it is and however long its lines are. */
export async function scanLines(handle: FileHandle, { encoding, offset, limit, whole, signal }: ScanOptions): Promise<Scan> {
  const scan: Scan = {
    lines: [],
    cut: [],
    last: offset - 1,
    totalLines: undefined,
    digest: undefined,
    isBroken: false,
    isLate: false,
    seen: 0,
  };
  const hash = createHash('sha256');
  const toUtf8 = createTranscoder(encoding);
  const buffer = Buffer.allocUnsafe(limits.fileChunkBytes);
  const untilMs = performance.now() + limits.readScanMs;
  let line = 1;
  let lineBytes = 0;
  let kept: Buffer[] = [];
  let keptBytes = 0;
  let textBytes = 0;
  let isFull = false;

  function keep(piece: Buffer): void {
    lineBytes += piece.length;
    const room = keptLineBytesMax - keptBytes;
    if (isFull || line < offset || room <= 0 || piece.length === 0) return;
    const part = Buffer.from(piece.subarray(0, room));
    kept.push(part);
    keptBytes += part.length;
  }

  function endLine(): void {
    if (!isFull && line >= offset) takeLine();
    scan.seen = line++;
    lineBytes = 0;
    kept = [];
    keptBytes = 0;
  }

  function takeLine(): void {
    const bytes = Buffer.concat(kept);
    const text = bytes.toString('utf8').replaceAll('\0', '\u2400').replace(/\r$/, '');
    const shown = text.slice(0, wholeUnits(text, limits.readLineCharsMax));
    textBytes += Buffer.byteLength(shown) + 1;
    if (textBytes > limits.readTextBytesMax) {
      isFull = true;
      return;
    }
    if (shown.length < text.length || lineBytes > bytes.length) scan.cut.push(line);
    else if (!isUtf8(bytes)) scan.isBroken = true;
    scan.lines.push(shown);
    scan.last = line;
    isFull = scan.lines.length >= limit;
  }

  /** False when no more of the file is needed. */
  function feed(bytes: Buffer): boolean {
    let start = 0;
    while (start < bytes.length) {
      if (isFull && !whole) return false;
      const end = bytes.indexOf(lineEnd, start);
      keep(bytes.subarray(start, end === -1 ? bytes.length : end));
      if (end === -1) return true;
      endLine();
      start = end + 1;
    }
    return true;
  }

  for (let position = 0; ;) {
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, position);
    const chunk = buffer.subarray(0, bytesRead);
    if (whole) hash.update(chunk);
    const goesOn = feed(toUtf8(chunk, position === 0));
    if (bytesRead === 0) {
      if (goesOn) {
        if (lineBytes > 0) endLine();
        scan.totalLines = line - 1;
      }
      break;
    }
    position += bytesRead;
    if (!goesOn) break;
    scan.isLate = performance.now() > untilMs;
    if (scan.isLate || signal.aborted) break;
  }
  if (whole && scan.totalLines !== undefined) scan.digest = hash.digest('hex');
  return scan;
}

/** Chunks as UTF-8 without a byte order mark. The last one is empty. */
function createTranscoder(encoding: Encoding): (chunk: Buffer, isFirst: boolean) => Buffer {
  if (encoding === 'utf-8') {
    const mark = Buffer.from('\ufeff');
    return (chunk, isFirst) => (isFirst && chunk.subarray(0, mark.length).equals(mark) ? chunk.subarray(mark.length) : chunk);
  }
  const decoder = new TextDecoder(encoding);
  return (chunk) => Buffer.from(decoder.decode(chunk, { stream: chunk.length > 0 }));
}
