import { execFile } from 'node:child_process';
import { closeSync, constants, openSync, readlinkSync, rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { Socket, type OnReadOpts, type SocketConstructorOpts } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { limits } from '../protocol/limits.js';
import { findProgram } from './find-program.js';

const run = promisify(execFile);

/** Consumes a chunk of output. The buffer is reused after the call, or after the returned promise: until then nothing is read (backpressure). */
export type TakeOutput = (chunk: Buffer) => void | Promise<void>;

export interface OutputPipe {
  /** The descriptor that the child writes to. */
  writeEnd: number;
  /** The target of the descriptor's link in /proc, such as `pipe:[1234]`. */
  name: string;
  /** Call once the child has inherited the descriptor. */
  closeWriteEnd(): void;
  /** Resolves at end of file, when all writers have closed the pipe, or after `stop`. */
  ended: Promise<void>;
  /** Stops reading after an idle timeout, as a background process may hold the pipe open. */
  drain(): void;
  stop(): void;
}

/**
 * A FIFO for stdout and stderr of a child, read into one buffer. Node's own stdio pipes are sockets: a socket cannot be opened as
 * /dev/stderr, and two of them lose the order between stdout and stderr.
 */
export async function openOutputPipe(take: TakeOutput): Promise<OutputPipe> {
  const { readEnd, writeEnd } = await makePipe();
  const name = readlinkSync(`/proc/self/fd/${writeEnd}`);
  let draining = false;
  let idleTimer: NodeJS.Timeout | undefined;
  const options: SocketConstructorOpts & { onread: OnReadOpts } = {
    fd: readEnd,
    readable: true,
    writable: false,
    onread: {
      buffer: Buffer.allocUnsafeSlow(limits.outputChunkBytes),
      callback(bytes, buffer) {
        clearTimeout(idleTimer);
        const taken = take(Buffer.from(buffer.buffer, buffer.byteOffset, bytes));
        if (taken === undefined) {
          armDrain();
          return true;
        }
        void taken.then(() => {
          if (socket.destroyed) return;
          socket.resume();
          armDrain();
        });
        return false;
      },
    },
  };
  const socket = new Socket(options);
  const ended = new Promise<void>((resolve) => socket.on('close', () => resolve()));
  // A read error ends the pipe.
  socket.on('error', () => socket.destroy());
  socket.on('end', () => socket.destroy());
  socket.resume();

  function armDrain(): void {
    if (draining && !socket.destroyed) idleTimer = setTimeout(() => socket.destroy(), limits.outputDrainMs);
  }

  return {
    writeEnd,
    name,
    closeWriteEnd: () => closeSync(writeEnd),
    ended: ended.then(() => clearTimeout(idleTimer)),
    drain() {
      if (draining) return;
      draining = true;
      armDrain();
    },
    stop: () => void socket.destroy(),
  };
}

async function makePipe(): Promise<{ readEnd: number; writeEnd: number }> {
  const folder = await mkdtemp(join(tmpdir(), 'berth-pipe-'));
  const path = join(folder, 'output');
  try {
    await run(findProgram('mkfifo') ?? 'mkfifo', ['-m', '600', path], { env: {}, cwd: '/' });
    const readEnd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    return { readEnd, writeEnd: openSync(path, constants.O_WRONLY) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
