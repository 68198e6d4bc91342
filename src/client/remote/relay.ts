import { once } from 'node:events';
import type { Duplex, Readable, Writable } from 'node:stream';
import { limits } from '../../protocol/limits.js';
import { DaemonUnresponsive, NoDaemon, StartFailed } from '../errors.js';
import type { StreamKind, Transport } from '../transport.js';
import { version } from '../version.js';
import { encodeGreeting, RelayBroken, relayVersion, type Frame, type RelayRefusal } from './frames.js';
import { createMultiplexer } from './multiplexer.js';

interface Deps {
  input: Readable;
  output: Writable;
  /** The way to the daemon of this machine. */
  transport: Transport;
  home: string;
}

/** Carries streams to the daemon of this machine over `input` and `output`, until one of them ends. Rejects with RelayBroken. */
export async function runRelay({ input, output, transport, home }: Deps): Promise<void> {
  /** Streams that were asked for; those that are open have a socket. */
  const sockets = new Map<number, Duplex | undefined>();
  let isOver = false;
  let settle: { resolve(): void; reject(error: unknown): void } | undefined;
  const over = new Promise<void>((resolve, reject) => (settle = { resolve, reject }));
  const streams = createMultiplexer({ write, onFrame });

  function write(bytes: string | Buffer): void {
    output.write(bytes);
    // Answers to frames have no window: who does not read them is not read.
    if (output.writableLength < limits.relayUnsentBytesMax || input.isPaused()) return;
    input.pause();
    once(output, 'drain').then(
      () => input.resume(),
      (error: unknown) => settle?.reject(error),
    );
  }

  function onFrame({ stream, open, close, start }: Frame): void {
    if (start) void answerStart();
    else if (stream === undefined) return;
    else if (open === 'commands' || open === 'events') void answerOpen(stream, open);
    else if (close && sockets.get(stream) === undefined) sockets.delete(stream);
  }

  async function answerStart(): Promise<void> {
    try {
      await transport.start?.();
      streams.send({ started: true });
    } catch (error) {
      streams.send({ refused: toRefusal(error) });
    }
  }

  async function answerOpen(stream: number, kind: StreamKind): Promise<void> {
    if (sockets.has(stream)) {
      settle?.reject(new RelayBroken(`stream ${stream} was opened twice`));
      return;
    }
    if (sockets.size >= limits.relayStreamsMax) {
      streams.send({ stream, refused: { code: 'too_many_streams', message: `at most ${limits.relayStreamsMax} streams` } });
      return;
    }
    sockets.set(stream, undefined);
    try {
      const socket = await transport.open(kind);
      // Race: the client has closed the stream or is gone.
      if (isOver || !sockets.has(stream)) return void socket.destroy();
      join(stream, socket);
    } catch (error) {
      sockets.delete(stream);
      streams.send({ stream, refused: toRefusal(error) });
    }
  }

  function join(stream: number, socket: Duplex): void {
    sockets.set(stream, socket);
    streams.send({ stream, opened: true });
    const channel = streams.open(stream);
    channel.pipe(socket).pipe(channel);
    // What the client sent before it closed the stream still reaches the daemon.
    socket.on('finish', () => socket.destroy());
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      sockets.delete(stream);
      channel.end();
    });
    channel.on('error', () => socket.destroy());
  }

  input.on('data', (chunk: Buffer) => {
    try {
      streams.push(chunk);
    } catch (error) {
      settle?.reject(error);
    }
  });
  for (const event of ['end', 'close', 'error']) input.once(event, () => settle?.resolve());
  for (const event of ['close', 'error']) output.once(event, () => settle?.resolve());
  output.write(encodeGreeting({ relay: relayVersion, version, protocol: '1', home }));
  try {
    await over;
  } finally {
    isOver = true;
    streams.end();
    for (const socket of sockets.values()) socket?.destroy();
    input.destroy();
  }
}

function toRefusal(error: unknown): RelayRefusal {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof NoDaemon) return { code: 'no_daemon', message };
  if (error instanceof DaemonUnresponsive) return { code: 'daemon_unresponsive', message };
  return { code: error instanceof StartFailed ? error.code : 'start_failed', message };
}
