import type { Socket } from 'node:net';
import { limits } from '../protocol/limits.js';
import { createLineDecoder, type DecodedLine } from '../protocol/ndjson.js';
import type { FairQueue } from './budgets/fair-queue.js';
import type { LineRoom } from './budgets/line-room.js';

export interface Connection {
  readonly socket: Socket;
  /** Fires when the peer is gone for good. */
  readonly gone: AbortSignal;
  isOpen(): boolean;
  /** False when the peer reads too slowly: wait for `onDrain`. */
  canWrite(): boolean;
  /** Bytes that were written and that the peer has not read yet. */
  unreadBytes(): number;
  write(line: string | Buffer): void;
  /** Writes a last line, if there is one, and closes the socket within a bounded time. */
  close(lastLine?: string | Buffer): void;
}

/** What all connections share. */
interface Shared {
  lineRoom: LineRoom;
  fairQueue: FairQueue;
}

interface Events {
  /** A line was read. Not called while the peer does not read its replies, nor before the promise of the last call is settled. */
  onLine(line: DecodedLine): void | Promise<void>;
  /**
   * A line without its newline did not grow for `unfinishedLineMs`: the peer sent nothing (`timeout`), or the budget for unfinished lines
   * of all connections was used up (`overloaded`). Nothing more is read; the owner closes the connection.
   */
  onUnfinished(why: 'timeout' | 'overloaded'): void;
  /** The socket's write buffer was drained. */
  onDrain(): void;
  /** The peer will send nothing more; it may still read. */
  onEnd(): void;
  onClose(): void;
}

const tuning = {
  /** Lines are decoded in pieces of about this length: decoding is part of the time slice of a connection. */
  decodedBytes: 4 * 1024,
  /** Long lines are written to the socket in pieces: a piece that is drained shows that the peer reads. */
  pieceBytes: 64 * 1024,
} as const;
const newline = 10;

/** One connection: bounded lines in, backpressure out. */
export function openConnection(socket: Socket, { lineRoom, fairQueue }: Shared, events: Events): Connection {
  const decoder = createLineDecoder(limits.lineBytesMax, limits.lineDepthMax, limits.lineMembersMax);
  const gone = new AbortController();
  /** Bytes that were read and not decoded yet; nothing more is read meanwhile. */
  let undecoded: Buffer | undefined;
  let pendingLines: DecodedLine[] = [];
  let ended = false;
  let closing = false;
  let isHandling = false;
  let waitsForRoom = false;
  let idle: NodeJS.Timeout | undefined;
  let unsent: Buffer[] = [];
  let unsentBytes = 0;
  // Cached stream state: every delta reads it for every client, and the stream's getters are slow.
  let isFull = false;
  let isGone = false;
  const room = lineRoom.join(() => {
    waitsForRoom = false;
    // An empty write fails when the peer closed the connection while reading was paused.
    socket.write('');
    if (!isBusy() && !socket.destroyed) socket.resume();
  });

  function canWrite(): boolean {
    return !isFull && !isGone && unsentBytes === 0;
  }

  function writeNow(bytes: string | Buffer): void {
    isFull = !socket.write(bytes);
  }

  function write(line: string | Buffer): void {
    if (isGone || closing) return;
    if (unsentBytes === 0 && line.length <= tuning.pieceBytes) return writeNow(line);
    const bytes = typeof line === 'string' ? Buffer.from(line) : line;
    for (let from = 0; from < bytes.length; from += tuning.pieceBytes) unsent.push(bytes.subarray(from, from + tuning.pieceBytes));
    unsentBytes += bytes.length;
    sendPieces();
  }

  function sendPieces(): void {
    let sent = 0;
    while (sent < unsent.length && (closing || !isFull)) {
      const piece = unsent[sent++];
      if (!piece) break;
      unsentBytes -= piece.length;
      writeNow(piece);
    }
    if (sent > 0) unsent = unsent.slice(sent);
  }

  function isBusy(): boolean {
    return pendingLines.length > 0 || undecoded !== undefined || isHandling;
  }

  function canHandle(): boolean {
    return canWrite() && !closing && !isHandling;
  }

  /** Decodes and handles lines until `untilMs`. True when more could be done. */
  function work(untilMs: number): boolean {
    do {
      if (pendingLines.length > 0) handleLines(untilMs);
      else decodeNext();
    } while (isBusy() && canHandle() && performance.now() < untilMs);
    // Backpressure: input is read only as fast as the replies are read.
    if (isBusy()) socket.pause();
    else if (ended) finish();
    else if (!waitsForRoom && !closing) socket.resume();
    return isBusy() && canHandle();
  }

  function handleLines(untilMs: number): void {
    let handled = 0;
    while (handled < pendingLines.length && canHandle()) {
      const line = pendingLines[handled++];
      const held = line && events.onLine(line);
      if (held) waitForHandler(held);
      if (performance.now() > untilMs) break;
    }
    pendingLines = handled === pendingLines.length ? [] : pendingLines.slice(handled);
  }

  /** Decodes up to the first end of a line after `decodedBytes`. */
  function decodeNext(): void {
    const chunk = undecoded;
    if (!chunk) return;
    const end = chunk.indexOf(newline, tuning.decodedBytes) + 1;
    undecoded = end === 0 || end === chunk.length ? undefined : chunk.subarray(end);
    pendingLines = decode(undecoded ? chunk.subarray(0, end) : chunk);
  }

  /** Decodes a chunk as far as the budget for unfinished lines allows. The rest is unshifted into the paused stream. */
  function decode(chunk: Buffer): DecodedLine[] {
    const lineStart = chunk.lastIndexOf(newline) + 1;
    const unfinished = chunk.length - lineStart + (lineStart === 0 ? decoder.unfinishedBytes() : 0);
    if (lineStart > 0) room.release();
    const fits = unfinished > limits.lineBytesMax || room.reserve(unfinished);
    const lines = decoder.push(fits ? chunk : chunk.subarray(0, lineStart));
    if (!fits) {
      waitsForRoom = true;
      socket.pause();
      socket.unshift(chunk.subarray(lineStart));
    }
    if (unfinished === 0) stopIdle();
    else if (fits || lineStart > 0 || idle === undefined) watchIdle();
    return lines;
  }

  function stopIdle(): void {
    clearTimeout(idle);
    idle = undefined;
  }

  function watchIdle(): void {
    clearTimeout(idle);
    idle = setTimeout(onIdleTimeout, lineRoom.idleMs);
    idle.unref();
  }

  function onIdleTimeout(): void {
    if (closing) return;
    // Reading is paused while earlier lines are handled, so the line could not grow.
    if (isBusy()) return watchIdle();
    events.onUnfinished(waitsForRoom ? 'overloaded' : 'timeout');
  }

  function discardLine(): void {
    stopIdle();
    decoder.drop();
    room.release();
  }

  /** Later lines wait until the handler of this one is done. */
  function waitForHandler(held: Promise<void>): void {
    isHandling = true;
    void held.then(() => {
      isHandling = false;
      fairQueue.later(work);
    });
  }

  /** The peer has ended its side, and all of its lines were handled. */
  function finish(): void {
    discardLine();
    events.onEnd();
  }

  socket.on('data', (chunk) => {
    if (closing) return;
    const isWaiting = isBusy();
    undecoded = undecoded ? Buffer.concat([undecoded, chunk]) : chunk;
    if (isWaiting || !fairQueue.add(work)) socket.pause();
  });
  socket.on('end', () => {
    ended = true;
    // An empty write fails if the peer closed the connection; it succeeds if the connection is half-closed, and the peer still reads.
    socket.write('');
    if (!isBusy()) finish();
  });
  socket.on('drain', () => {
    isFull = false;
    sendPieces();
    events.onDrain();
    if (isBusy()) fairQueue.later(work);
  });
  // 'close' follows an error, as ECONNRESET, and does the cleanup.
  socket.on('error', () => socket.destroy());
  socket.on('close', () => {
    isGone = true;
    fairQueue.remove(work);
    undecoded = undefined;
    pendingLines = [];
    unsent = [];
    unsentBytes = 0;
    discardLine();
    gone.abort();
    events.onClose();
  });

  return {
    socket,
    gone: gone.signal,
    isOpen: () => !socket.destroyed && !closing,
    canWrite,
    unreadBytes: () => socket.writableLength + unsentBytes,
    write,
    close(lastLine) {
      if (closing) return;
      closing = true;
      undecoded = undefined;
      pendingLines = [];
      discardLine();
      sendPieces();
      if (lastLine === undefined) socket.end();
      else socket.end(lastLine);
      // Unread input would keep the socket half open.
      socket.resume();
      setTimeout(() => socket.destroy(), limits.goodbyeMs).unref();
    },
  };
}
