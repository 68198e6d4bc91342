import { StringDecoder } from 'node:string_decoder';
import { limits } from '../protocol/limits.js';
import { cleanText, unfinished } from './clean-text.js';
import { brokenStart, createLastBytes } from './last-bytes.js';

/** Shows output as it comes to whoever watches: a bounded piece in a while, the newest first when there is too much. */
export function createLiveOutput(show: (text: string) => void) {
  const waiting = createLastBytes(limits.liveOutputBytesMax);
  let bytes = 0;
  let decoder = new StringDecoder('utf8');
  let held = '';
  let shownMs = -Infinity;
  let timer: NodeJS.Timeout | undefined;

  function flush(last: boolean): void {
    clearTimeout(timer);
    timer = undefined;
    shownMs = performance.now();
    const piece = waiting.bytes();
    const skipped = bytes - piece.length;
    let before = '';
    if (skipped > 0) {
      before = `${cleanText(held)}\n[… ${skipped} bytes not shown]\n`;
      decoder = new StringDecoder('utf8');
      held = '';
    }
    const text = held + decoder.write(skipped > 0 ? piece.subarray(brokenStart(piece)) : piece) + (last ? decoder.end() : '');
    const open = last ? 0 : unfinished(text);
    held = text.slice(text.length - open);
    waiting.clear();
    bytes = 0;
    const shown = before + cleanText(text.slice(0, text.length - open).replaceAll(/\r(?!\n)/g, '\n'));
    if (shown !== '') show(shown);
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
