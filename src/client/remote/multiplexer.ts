import { Duplex } from 'node:stream';
import { limits } from '../../protocol/limits.js';
import { createFrameDecoder, encodeBytes, encodeFrame, RelayBroken, type Frame } from './frames.js';

interface Deps {
  /** Writes to the other end. What is not written yet is bounded by the windows of the streams. */
  write(bytes: string | Buffer): void;
  /** A frame that is not about the flow of a stream that is open here. */
  onFrame(frame: Frame): void;
}

/**
 * Streams over one stream of bytes. Each has a window in each direction: who sends waits for credit, which is given as the bytes are read, so
 * that a stream that nobody reads costs its window, and holds up no other stream.
 */
export interface Multiplexer {
  /** The stream of this number, from now on. Its end is the end of both directions. */
  open(stream: number): Duplex;
  send(frame: Frame): void;
  /** Feeds what came from the other end. Throws RelayBroken. */
  push(chunk: Buffer): void;
  /** Destroys all streams. */
  end(): void;
}

interface Channel {
  duplex: Duplex;
  take(bytes: Buffer): void;
  addCredit(bytes: number): void;
  closeByPeer(): void;
}

const tuning = { frameBytes: 64 * 1024, grantAtBytes: limits.relayWindowBytesMax / 4 } as const;

export function createMultiplexer({ write, onFrame }: Deps): Multiplexer {
  const channels = new Map<number, Channel>();
  let isOver = false;
  const send = (frame: Frame): void => {
    if (!isOver) write(encodeFrame(frame));
  };
  const decoder = createFrameDecoder({
    onBytes: (stream, piece) => channels.get(stream)?.take(piece),
    onFrame(frame) {
      const channel = frame.stream === undefined ? undefined : channels.get(frame.stream);
      if (channel && frame.credit !== undefined) channel.addCredit(frame.credit);
      else if (channel && frame.close) channel.closeByPeer();
      else onFrame(frame);
    },
  });

  function createChannel(stream: number): Channel {
    /** What may be sent. */
    let credit: number = limits.relayWindowBytesMax;
    /** What the other end may send. */
    let allowance: number = limits.relayWindowBytesMax;
    /** What was read here, and not given back as credit. */
    let owed = 0;
    let unsent: { chunk: Buffer; done: () => void } | undefined;
    let isClosed = false;
    let isClosedByPeer = false;

    function grant(): void {
      if (owed < tuning.grantAtBytes || isClosed || isClosedByPeer) return;
      allowance += owed;
      send({ stream, credit: owed });
      owed = 0;
    }

    function flush(): void {
      while (unsent) {
        const { chunk, done } = unsent;
        const piece = isClosedByPeer ? chunk : chunk.subarray(0, Math.min(credit, tuning.frameBytes));
        if (piece.length === 0 && chunk.length > 0) return;
        if (!isClosedByPeer && !isOver) write(encodeBytes(stream, piece));
        credit -= piece.length;
        unsent = piece.length < chunk.length ? { chunk: chunk.subarray(piece.length), done } : undefined;
        if (!unsent) done();
      }
    }

    function close(): void {
      if (!isClosed && !isClosedByPeer) send({ stream, close: true });
      isClosed = true;
    }

    const duplex = new Duplex({
      allowHalfOpen: false,
      read: grant,
      write(chunk: Buffer, _encoding, done) {
        unsent = { chunk, done };
        flush();
      },
      final(done) {
        close();
        done();
      },
      destroy(error, done) {
        close();
        channels.delete(stream);
        done(error);
      },
    });

    return {
      duplex,
      take(bytes) {
        allowance -= bytes.length;
        if (allowance < 0) throw new RelayBroken('more bytes came than a stream has room for');
        owed += bytes.length;
        if (isClosedByPeer || duplex.destroyed) return;
        if (duplex.push(bytes)) grant();
      },
      addCredit(bytes) {
        if (!Number.isSafeInteger(bytes) || bytes < 0 || credit + bytes > limits.relayWindowBytesMax)
          throw new RelayBroken('a frame has an impossible credit');
        credit += bytes;
        flush();
      },
      closeByPeer() {
        if (isClosedByPeer) return;
        isClosedByPeer = true;
        flush();
        duplex.push(null);
      },
    };
  }

  return {
    open(stream) {
      const channel = createChannel(stream);
      channels.set(stream, channel);
      return channel.duplex;
    },
    send,
    push: decoder.push,
    end() {
      isOver = true;
      for (const { duplex } of [...channels.values()]) duplex.destroy();
    },
  };
}
