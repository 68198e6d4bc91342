import type { Socket } from 'node:net';
import { limits } from '../protocol/limits.js';
import { createLineDecoder, type DecodedLine } from '../protocol/ndjson.js';
import type { LineRoom } from './line-room.js';

export interface Connection {
  readonly socket: Socket;
  /** Fires when the peer is gone for good. */
  readonly gone: AbortSignal;
  isOpen(): boolean;
  /** False when the peer reads too slowly: wait for `onDrain`. */
  canWrite(): boolean;
  /** What was written and the peer has not taken yet. */
  unreadBytes(): number;
  write(line: string | Buffer): void;
  /** Writes a last line, if there is one, and lets go of the socket within a bounded time. */
  close(lastLine?: string | Buffer): void;
}

interface Events {
  /** A line came. Not called while the peer does not read what it is sent, nor before what the last call returned is over. */
  onLine(line: DecodedLine): void | Promise<void>;
  /**
   * A line was begun and did not grow for `unfinishedLineMs`: its peer sent nothing (`timeout`), or there was no room for it among the
   * unfinished lines of others (`overloaded`). Nothing more is read; the owner closes.
   */
  onUnfinished(why: 'timeout' | 'overloaded'): void;
  /** The peer took what it was sent, or a part of a long line. */
  onDrain(): void;
  /** The peer will send nothing more; it may still read. */
  onEnd(): void;
  onClose(): void;
}

const tuning = {
  /** How long lines of one peer are handled before others get their turn. */
  turnMs: 5,
  /** Long lines are handed to the socket in pieces: a piece that is taken shows that the peer reads. */
  pieceBytes: 64 * 1024,
} as const;
const newline = 10;

/** One peer: bounded lines in, backpressure out. Nothing here knows what the lines mean. */
export function openConnection(socket: Socket, lineRoom: LineRoom, events: Events): Connection {
  const decoder = createLineDecoder(limits.lineBytesMax, limits.lineDepthMax, limits.lineMembersMax);
  const gone = new AbortController();
  let waiting: DecodedLine[] = [];
  let ended = false;
  let scheduled = false;
  let closing = false;
  let holds = false;
  let waitsForRoom = false;
  let idle: NodeJS.Timeout | undefined;
  let unsent: Buffer[] = [];
  let unsentBytes = 0;
  // Kept here as every delta asks for them for every client, and the stream answers through several getters.
  let isFull = false;
  let isGone = false;
  const room = lineRoom.join(() => {
    waitsForRoom = false;
    // A peer that went away while it was not read is noticed here, before all that it left behind is read.
    socket.write('');
    if (waiting.length === 0 && !holds && !socket.destroyed) socket.resume();
  });

  function canWrite(): boolean {
    return !isFull && !isGone && unsentBytes === 0;
  }

  function hand(bytes: string | Buffer): void {
    isFull = !socket.write(bytes);
  }

  function write(line: string | Buffer): void {
    if (isGone || closing) return;
    if (unsentBytes === 0 && line.length <= tuning.pieceBytes) return hand(line);
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
      hand(piece);
    }
    if (sent > 0) unsent = unsent.slice(sent);
  }

  function handleLines(): void {
    scheduled = false;
    const until = performance.now() + tuning.turnMs;
    let handled = 0;
    while (handled < waiting.length && canWrite() && !closing && !holds) {
      const line = waiting[handled++];
      const held = line && events.onLine(line);
      if (held) hold(held);
      if (handled < waiting.length && performance.now() > until) {
        schedule();
        break;
      }
    }
    waiting = handled === waiting.length ? [] : waiting.slice(handled);
    // What a peer sends is read only as fast as it is answered and the answers are read.
    if (waiting.length > 0 || holds) socket.pause();
    else if (ended) events.onEnd();
    else if (!waitsForRoom) socket.resume();
  }

  /** Hands the decoder what there is room for. The rest goes back to the stream, which is not read meanwhile. */
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
    idle = setTimeout(giveUpLine, lineRoom.idleMs);
    idle.unref();
  }

  function giveUpLine(): void {
    if (closing) return;
    // While what came before is not answered, nothing is read: that is not the line's fault.
    if (waiting.length > 0 || holds) return watchIdle();
    events.onUnfinished(waitsForRoom ? 'overloaded' : 'timeout');
  }

  function dropLine(): void {
    stopIdle();
    decoder.drop();
    room.release();
  }

  /** The lines that follow wait until then. */
  function hold(held: Promise<void>): void {
    holds = true;
    void held.then(() => {
      holds = false;
      schedule();
    });
  }

  function schedule(): void {
    if (scheduled) return;
    scheduled = true;
    setImmediate(handleLines);
  }

  socket.on('data', (chunk) => {
    if (closing) return;
    const lines = decode(chunk);
    if (waiting.length > 0) waiting.push(...lines);
    else waiting = lines;
    if (!scheduled) handleLines();
  });
  socket.on('end', () => {
    ended = true;
    dropLine();
    // A write of nothing fails when the peer is gone, and only then: one that merely stopped writing still reads.
    socket.write('');
    if (waiting.length === 0 && !holds) events.onEnd();
  });
  socket.on('drain', () => {
    isFull = false;
    sendPieces();
    events.onDrain();
    if (waiting.length > 0) schedule();
  });
  // A peer that vanished: 'close' follows, and that is where it is handled.
  socket.on('error', () => socket.destroy());
  socket.on('close', () => {
    isGone = true;
    waiting = [];
    unsent = [];
    unsentBytes = 0;
    dropLine();
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
      waiting = [];
      dropLine();
      sendPieces();
      if (lastLine === undefined) socket.end();
      else socket.end(lastLine);
      // Unread input would keep the socket half open.
      socket.resume();
      setTimeout(() => socket.destroy(), limits.goodbyeMs).unref();
    },
  };
}
