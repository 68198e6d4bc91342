import { setImmediate as nextTurn } from 'node:timers/promises';
import { limits } from '../../protocol/limits.js';
import type { BodyReader } from './body-reader.js';
import { toErrorEvent } from './error-bodies.js';
import { toAnswerEvents } from '../apis/whole-answers.js';

/** The provider exceeded a size limit; reading on would take unbounded memory. */
export class AnswerTooLong extends Error {
  override name = 'AnswerTooLong';
}

/** The response is no model answer; the message says what it is instead, such as a web page. */
export class UnexpectedAnswer extends Error {
  override name = 'UnexpectedAnswer';
}

/** A filter on a byte stream: returns the bytes to pass on, or undefined while it buffers. */
interface ByteFilter {
  take(chunk: Uint8Array): Uint8Array | undefined;
  end(): Uint8Array | undefined;
  /** The last event ([DONE]) has passed. */
  isOver(): boolean;
}

/** The progress of a stream. */
export interface StreamState {
  /** The last event of the stream ([DONE]) has arrived. */
  isWhole: boolean;
}

/** Passes server-sent events on as whole events of bounded size, which an SDK can read safely. Every arriving chunk calls `touch`. */
export function guardStream(
  body: BodyReader,
  touch: () => void,
  { streamState = { isWhole: false }, pieceBytes = Infinity }: { streamState?: StreamState; pieceBytes?: number } = {},
): BodyReader {
  const filter = createByteFilter();
  let buffered: Uint8Array = noBytes;
  let over = false;
  let bytesOfTurn = 0;

  async function readMore(): Promise<void> {
    const { done, value } = await (filter.isOver() ? readWithTimeout(body) : body.next());
    touch();
    buffered = (done ? filter.end() : filter.take(value)) ?? buffered;
    over = done === true;
    streamState.isWhole ||= filter.isOver();
  }

  const stream: BodyReader = {
    async next() {
      try {
        while (buffered.length === 0 && !over) await readMore();
      } catch (error) {
        await body.return();
        throw error;
      }
      if (buffered.length === 0) return { done: true, value: undefined };
      const end = endOfPiece(buffered, pieceBytes);
      const value = buffered.subarray(0, end);
      buffered = buffered.subarray(end);
      // Yields to the event loop: a fast server would block everything else.
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

/** Reads with a timeout, for servers that do not close the connection after the last event. */
async function readWithTimeout(body: BodyReader): ReturnType<BodyReader['next']> {
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

/** Chooses a filter by the first character: JSON and HTML are no event streams, even if the headers claim it. */
function createByteFilter(): ByteFilter {
  let filter: ByteFilter | undefined;
  return {
    take(chunk) {
      filter ??= filterFor(chunk);
      return filter ? filter.take(chunk) : chunk;
    },
    end: () => filter?.end(),
    isOver: () => filter?.isOver() ?? false,
  };
}

function filterFor(chunk: Uint8Array): ByteFilter | undefined {
  const [first] = Buffer.from(chunk.subarray(0, tuning.firstBytesMax)).toString('latin1').replace(leadingSpace, '');
  if (first === undefined) return undefined;
  if (first === '<') throw new UnexpectedAnswer('a web page');
  return first === '{' || first === '[' ? createJsonFilter() : createEventFilter();
}

/** Converts a JSON document, which is an error with status 200 or a non-streamed answer, into events. */
function createJsonFilter(): ByteFilter {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  return {
    take(chunk) {
      bytes += chunk.length;
      if (bytes > limits.modelLineBytesMax) throw new UnexpectedAnswer('a document');
      chunks.push(chunk);
      return undefined;
    },
    end() {
      const text = Buffer.concat(chunks).toString('utf8');
      const events = toAnswerEvents(parse(text)) ?? toErrorEvent(text);
      if (events === undefined) throw new UnexpectedAnswer('a document');
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

/** Buffers an event until it is complete: an SDK would scan its whole buffer with every chunk, which is quadratic. */
function createEventFilter(): ByteFilter {
  let pending: Buffer[] = [];
  /** Size of the incomplete event, including bytes that were passed on. */
  let openBytes = 0;
  let openTail: Buffer = noBytes;
  let isOver = false;

  function emit(last: Buffer): Buffer {
    const bytes = withErrors(pending.length === 0 ? last : Buffer.concat([...pending, last]));
    pending = [];
    isOver ||= lastEvent.test(bytes.toString('latin1', Math.max(0, bytes.length - tuning.lastEventBytesMax)));
    return bytes;
  }

  return {
    take(chunk) {
      const bytes = toBuffer(chunk);
      // Fast path: a chunk of whole events after whole events.
      if (openBytes === 0 && bytes.at(-1) === lineFeed && bytes.at(-2) === lineFeed) return emit(bytes);
      const end = endOfEvents(bytes);
      const seam = end > 0 || openTail.length === 0 ? noBytes : Buffer.concat([openTail, bytes.subarray(0, tuning.boundaryBytesMax - 1)]);
      // A boundary that is split across chunks: the beginning of the next event is passed on with it.
      const isBoundarySplit = endOfEvents(seam) > 0;
      const isOpenFrom = end > 0 || isBoundarySplit ? end : undefined;
      openBytes = isOpenFrom === undefined ? openBytes + bytes.length : bytes.length - isOpenFrom;
      openTail = tailOf(isOpenFrom === undefined ? Buffer.concat([openTail, tailOf(bytes)]) : bytes.subarray(isOpenFrom));
      if (openBytes > limits.modelLineBytesMax) throw new AnswerTooLong(`an event of more than ${limits.modelLineBytesMax} bytes`);
      if (isBoundarySplit) return emit(bytes);
      if (end === 0) {
        pending.push(bytes);
        return undefined;
      }
      const whole = emit(bytes.subarray(0, end));
      if (end < bytes.length) pending.push(bytes.subarray(end));
      return whole;
    },
    end: () => (pending.length === 0 ? undefined : emit(noBytes)),
    isOver: () => isOver,
  };
}

const errorField = /^error: ?(\{.*\})\r?$/gm;

/** Rewrites the non-standard `error:` field of older llama.cpp servers into an error event. */
function withErrors(bytes: Buffer): Buffer {
  // Searching with the preceding line ending is five times as fast as searching for the letters alone.
  if (!['\nerror:', '\rerror:'].some((field) => bytes.includes(field, 0, 'latin1')) && bytes.toString('latin1', 0, 6) !== 'error:')
    return bytes;
  const text = bytes.toString('utf8');
  const rewritten = text.replace(errorField, (field, json: string) => toErrorEvent(json) ?? field);
  return rewritten === text ? bytes : Buffer.from(rewritten);
}

function tailOf(bytes: Buffer): Buffer {
  return bytes.subarray(Math.max(0, bytes.length - (tuning.boundaryBytesMax - 1)));
}

/** The end offset of the last complete event; 0 when there is none. */
function endOfEvents(bytes: Buffer): number {
  for (const boundary of boundaries) {
    const at = bytes.lastIndexOf(boundary, undefined, 'latin1');
    if (at !== -1) return at + boundary.length;
  }
  return 0;
}
