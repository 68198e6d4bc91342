import { StringDecoder } from 'node:string_decoder';
import { limits } from '../../protocol/limits.js';
import { cleanText, isBinary, unfinishedEscapeChars } from './clean-text.js';
import { incompleteUtf8Head, createTailBuffer } from './tail-buffer.js';

/** Streams output to clients, throttled: at most one bounded chunk per interval, and only the newest bytes of too much output. */
export function createLiveOutput(show: (text: string) => void) {
  const waiting = createTailBuffer(limits.liveOutputBytesMax);
  let bytes = 0;
  let decoder = new StringDecoder('utf8');
  let unfinished = '';
  let shownMs = -Infinity;
  let timer: NodeJS.Timeout | undefined;
  /** The latest output is binary, and the note about it was shown. */
  let isBinaryNoted = false;
  let atStart = true;

  /** Shows one note for all binary output until text comes again. */
  function skipBinary(): void {
    decoder = new StringDecoder('utf8');
    unfinished = '';
    if (!isBinaryNoted) show(`${atStart ? '' : '\n'}[binary output is not shown]\n`);
    isBinaryNoted = true;
    atStart = true;
  }

  function flush(last: boolean): void {
    clearTimeout(timer);
    timer = undefined;
    shownMs = performance.now();
    const piece = waiting.bytes();
    const skipped = bytes - piece.length;
    waiting.clear();
    bytes = 0;
    if (isBinary(piece, isBinaryNoted)) return skipBinary();
    let before = '';
    if (skipped > 0) {
      before = `${cleanText(unfinished)}\n[… ${skipped} bytes not shown]\n`;
      decoder = new StringDecoder('utf8');
      unfinished = '';
    }
    const text = unfinished + decoder.write(skipped > 0 ? piece.subarray(incompleteUtf8Head(piece)) : piece) + (last ? decoder.end() : '');
    const open = last ? 0 : unfinishedEscapeChars(text);
    unfinished = text.slice(text.length - open);
    const shown = before + cleanText(text.slice(0, text.length - open).replaceAll(/\r(?!\n)/g, '\n'));
    if (shown === '') return;
    isBinaryNoted = false;
    atStart = shown.endsWith('\n');
    show(shown);
  }

  return {
    push(chunk: Buffer): void {
      bytes += chunk.length;
      waiting.push(chunk);
      timer ??= setTimeout(() => flush(false), Math.max(0, shownMs + limits.liveOutputMs - performance.now()));
    },
    /** Shows the rest. */
    end: (): void => flush(true),
  };
}
