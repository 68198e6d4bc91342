import { StringDecoder } from 'node:string_decoder';
import { limits } from '../../protocol/limits.js';
import { cleanText, isBinary, unfinished } from './clean-text.js';
import { brokenStart, createTailBuffer } from './tail-buffer.js';

/** Shows output as it comes to whoever watches: a bounded piece in a while, the newest first when there is too much. */
export function createLiveOutput(show: (text: string) => void) {
  const waiting = createTailBuffer(limits.liveOutputBytesMax);
  let bytes = 0;
  let decoder = new StringDecoder('utf8');
  let held = '';
  let shownMs = -Infinity;
  let timer: NodeJS.Timeout | undefined;
  /** What came last is no text, and that was said. */
  let saidBinary = false;
  let atStart = true;

  /** A note for all that is no text until some comes again. */
  function passOver(): void {
    decoder = new StringDecoder('utf8');
    held = '';
    if (!saidBinary) show(`${atStart ? '' : '\n'}[binary output is not shown]\n`);
    saidBinary = true;
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
    if (isBinary(piece, saidBinary)) return passOver();
    let before = '';
    if (skipped > 0) {
      before = `${cleanText(held)}\n[… ${skipped} bytes not shown]\n`;
      decoder = new StringDecoder('utf8');
      held = '';
    }
    const text = held + decoder.write(skipped > 0 ? piece.subarray(brokenStart(piece)) : piece) + (last ? decoder.end() : '');
    const open = last ? 0 : unfinished(text);
    held = text.slice(text.length - open);
    const shown = before + cleanText(text.slice(0, text.length - open).replaceAll(/\r(?!\n)/g, '\n'));
    if (shown === '') return;
    saidBinary = false;
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
