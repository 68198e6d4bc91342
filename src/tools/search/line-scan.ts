import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { wholeUnits } from '../../protocol/content.js';
import { limits } from '../../protocol/limits.js';
import type { Encoding } from '../files/text-files.js';

/** A UTF-16 code unit is at most three bytes of UTF-8, and a surrogate pair is four. */
const keptLineBytesMax = limits.readLineCharsMax * 4;
const lineEnd = 0x0a;

export interface ScanOptions {
  encoding: Encoding;
  /** The first line to return, from 1. */
  offset: number;
  limit: number;
  /** Read to the end of the file, for the digest and the number of lines. */
  whole: boolean;
  signal: AbortSignal;
}

export interface Scan {
  lines: string[];
  /** Numbers of the truncated lines. */
  cut: number[];
  /** The number of the last returned line: the end of the file, or a limit. */
  last: number;
  /** Undefined when the end of the file was not reached. */
  totalLines: number | undefined;
  digest: string | undefined;
  /** Some line was not valid UTF-8. */
  isBroken: boolean;
  /** The scan timed out after `seen` lines. */
  isLate: boolean;
  seen: number;
}

/** Reads lines of an open file in one pass and bounded memory, whatever the size of the file and of its lines. */
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
  let linePieces: Buffer[] = [];
  let keptBytes = 0;
  let textBytes = 0;
  let isFull = false;

  function addToLine(piece: Buffer): void {
    lineBytes += piece.length;
    const room = keptLineBytesMax - keptBytes;
    if (isFull || line < offset || room <= 0 || piece.length === 0) return;
    const part = Buffer.from(piece.subarray(0, room));
    linePieces.push(part);
    keptBytes += part.length;
  }

  function endLine(): void {
    if (!isFull && line >= offset) takeLine();
    scan.seen = line++;
    lineBytes = 0;
    linePieces = [];
    keptBytes = 0;
  }

  function takeLine(): void {
    const bytes = Buffer.concat(linePieces);
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
      addToLine(bytes.subarray(start, end === -1 ? bytes.length : end));
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
    const wantsMore = feed(toUtf8(chunk, position === 0));
    if (bytesRead === 0) {
      if (wantsMore) {
        if (lineBytes > 0) endLine();
        scan.totalLines = line - 1;
      }
      break;
    }
    position += bytesRead;
    if (!wantsMore) break;
    scan.isLate = performance.now() > untilMs;
    if (scan.isLate || signal.aborted) break;
  }
  if (whole && scan.totalLines !== undefined) scan.digest = hash.digest('hex');
  return scan;
}

/** Converts chunks to UTF-8 without a byte order mark. The last chunk must be empty. */
function createTranscoder(encoding: Encoding): (chunk: Buffer, isFirst: boolean) => Buffer {
  if (encoding === 'utf-8') {
    const mark = Buffer.from('\ufeff');
    return (chunk, isFirst) => (isFirst && chunk.subarray(0, mark.length).equals(mark) ? chunk.subarray(mark.length) : chunk);
  }
  const decoder = new TextDecoder(encoding);
  return (chunk) => Buffer.from(decoder.decode(chunk, { stream: chunk.length > 0 }));
}
