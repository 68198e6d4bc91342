import { setImmediate as nextTurn } from 'node:timers/promises';
import { limits } from '../../protocol/limits.js';
import type { ArrivingBytes } from './body-reader.js';
import { toErrorEvent } from './error-bodies.js';
import { toAnswerEvents } from '../apis/whole-answers.js';

/** The provider sent more than anything of ours could need; reading on would cost memory without bound. */
export class AnswerTooLong extends Error {
  override name = 'AnswerTooLong';
}

/** What came is not how a model answers; the message says what it is instead. */
export class OddAnswer extends Error {
  override name = 'OddAnswer';
}

/** Bytes on their way: what is given on now, undefined to wait for more. */
interface Passage {
  take(chunk: Uint8Array): Uint8Array | undefined;
  end(): Uint8Array | undefined;
  /** The last event has been said: nothing but the end may come. */
  isOver(): boolean;
}

/** How far an answer has come. */
export interface Arrival {
  /** The event was said that is the last of a stream. */
  isWhole: boolean;
}

/** The same bytes as an SDK can read them without limit: whole events, each of bounded size. Every chunk that arrives is noted. */
export function toAnswerStream(
  body: ArrivingBytes,
  touch: () => void,
  { arrival = { isWhole: false }, pieceBytes = Infinity }: { arrival?: Arrival; pieceBytes?: number } = {},
): ArrivingBytes {
  const passage = createPassage();
  let waiting: Uint8Array = noBytes;
  let over = false;
  let bytesOfTurn = 0;

  async function readMore(): Promise<void> {
    const { done, value } = await (passage.isOver() ? readSoon(body) : body.next());
    touch();
    waiting = (done ? passage.end() : passage.take(value)) ?? waiting;
    over = done === true;
    arrival.isWhole ||= passage.isOver();
  }

  const stream: ArrivingBytes = {
    async next() {
      try {
        while (waiting.length === 0 && !over) await readMore();
      } catch (error) {
        await body.return();
        throw error;
      }
      if (waiting.length === 0) return { done: true, value: undefined };
      const end = endOfPiece(waiting, pieceBytes);
      const value = waiting.subarray(0, end);
      waiting = waiting.subarray(end);
      // A server that sends without a pause would be read without one, while everybody else waits.
      bytesOfTurn += value.length;
      if (bytesOfTurn >= limits.modelTurnBytes) {
        bytesOfTurn = 0;
        await nextTurn();
      }
      return { done: false, value };
    },
    return: () => body.return(),
    [Symbol.asyncIterator]: () => stream,
  };
  return stream;
}

/** Where a piece of whole events ends. */
function endOfPiece(bytes: Uint8Array, pieceBytes: number): number {
  if (bytes.length <= pieceBytes) return bytes.length;
  const at = toBuffer(bytes).indexOf('\n\n', pieceBytes, 'latin1');
  return at === -1 ? bytes.length : at + 2;
}

/** Servers that do not hang up after their last word are not waited for. */
async function readSoon(body: ArrivingBytes): ReturnType<ArrivingBytes['next']> {
  const timer = setTimeout(() => void body.return(), limits.modelCloseMs);
  try {
    return await body.next();
  } finally {
    clearTimeout(timer);
  }
}

const leadingSpace = /^[ \t\r\n\u00ef\u00bb\u00bf]+/;
const tuning = {
  firstBytesMax: 64,
  /** As long as the longest boundary. */
  boundaryBytesMax: 4,
  /** As long as the last event, with the line ends around it. */
  lastEventBytesMax: 24,
} as const;

/** Events go on as they come; what begins as JSON or as a page is no stream of events, whatever its headers say. */
function createPassage(): Passage {
  let passage: Passage | undefined;
  return {
    take(chunk) {
      passage ??= passageFor(chunk);
      return passage ? passage.take(chunk) : chunk;
    },
    end: () => passage?.end(),
    isOver: () => passage?.isOver() ?? false,
  };
}

function passageFor(chunk: Uint8Array): Passage | undefined {
  const [first] = Buffer.from(chunk.subarray(0, tuning.firstBytesMax)).toString('latin1').replace(leadingSpace, '');
  if (first === undefined) return undefined;
  if (first === '<') throw new OddAnswer('a web page');
  return first === '{' || first === '[' ? createJsonPassage() : createEventPassage();
}

/** An error that was sent with a status of success, or a whole answer, told as the events that it should have been. */
function createJsonPassage(): Passage {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  return {
    take(chunk) {
      bytes += chunk.length;
      if (bytes > limits.modelLineBytesMax) throw new OddAnswer('a document');
      chunks.push(chunk);
      return undefined;
    },
    end() {
      const text = Buffer.concat(chunks).toString('utf8');
      const events = toAnswerEvents(parse(text)) ?? toErrorEvent(text);
      if (events === undefined) throw new OddAnswer('a document');
      return Buffer.from(events);
    },
    isOver: () => false,
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

const boundaries = ['\n\n', '\r\n\r\n', '\r\r'];
const lastEvent = /(^|[\r\n])data: ?\[DONE\]\s*$/;
const noBytes = Buffer.alloc(0);
const lineFeed = 10;

function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Parts of an event are kept until it is whole: an SDK looks through all that it has of one with every chunk. */
function createEventPassage(): Passage {
  let kept: Buffer[] = [];
  /** Of the event that is not whole yet, also where it was given on. */
  let openBytes = 0;
  let openTail: Buffer = noBytes;
  let isOver = false;

  function giveOn(last: Buffer): Buffer {
    const bytes = withErrors(kept.length === 0 ? last : Buffer.concat([...kept, last]));
    kept = [];
    isOver ||= lastEvent.test(bytes.toString('latin1', Math.max(0, bytes.length - tuning.lastEventBytesMax)));
    return bytes;
  }

  return {
    take(chunk) {
      const bytes = toBuffer(chunk);
      // Most often whole events come after whole events, and whoever waits for them waits for each step here.
      if (openBytes === 0 && bytes.at(-1) === lineFeed && bytes.at(-2) === lineFeed) return giveOn(bytes);
      const end = endOfEvents(bytes);
      const seam = end > 0 || openTail.length === 0 ? noBytes : Buffer.concat([openTail, bytes.subarray(0, tuning.boundaryBytesMax - 1)]);
      // Where a boundary was cut in two, the beginning of the next event goes on with it.
      const isAcross = endOfEvents(seam) > 0;
      const isOpenFrom = end > 0 || isAcross ? end : undefined;
      openBytes = isOpenFrom === undefined ? openBytes + bytes.length : bytes.length - isOpenFrom;
      openTail = tailOf(isOpenFrom === undefined ? Buffer.concat([openTail, tailOf(bytes)]) : bytes.subarray(isOpenFrom));
      if (openBytes > limits.modelLineBytesMax) throw new AnswerTooLong(`an event of more than ${limits.modelLineBytesMax} bytes`);
      if (isAcross) return giveOn(bytes);
      if (end === 0) {
        kept.push(bytes);
        return undefined;
      }
      const whole = giveOn(bytes.subarray(0, end));
      if (end < bytes.length) kept.push(bytes.subarray(end));
      return whole;
    },
    end: () => (kept.length === 0 ? undefined : giveOn(noBytes)),
    isOver: () => isOver,
  };
}

const errorField = /^error: ?(\{.*\})\r?$/gm;

/** Older servers of llama.cpp have a field of their own for errors, which no reader of events knows. */
function withErrors(bytes: Buffer): Buffer {
  // Looked for with the end of the line before: letters alone would be found at every other place, and that takes five times as long.
  if (!['\nerror:', '\rerror:'].some((field) => bytes.includes(field, 0, 'latin1')) && bytes.toString('latin1', 0, 6) !== 'error:')
    return bytes;
  const text = bytes.toString('utf8');
  const told = text.replace(errorField, (field, json: string) => toErrorEvent(json) ?? field);
  return told === text ? bytes : Buffer.from(told);
}

function tailOf(bytes: Buffer): Buffer {
  return bytes.subarray(Math.max(0, bytes.length - (tuning.boundaryBytesMax - 1)));
}

/** Where the last whole event ends; 0 when none does. */
function endOfEvents(bytes: Buffer): number {
  for (const boundary of boundaries) {
    const at = bytes.lastIndexOf(boundary, undefined, 'latin1');
    if (at !== -1) return at + boundary.length;
  }
  return 0;
}
