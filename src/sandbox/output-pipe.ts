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

/** Takes a piece of output. The bytes are its own until it returns, or until what it returns is done; nothing is read before that. */
export type TakeOutput = (chunk: Buffer) => void | Promise<void>;

export interface OutputPipe {
  /** For the child. */
  writeEnd: number;
  /** How /proc shows it. */
  name: string;
  /** To be called once the child has it. */
  closeWriteEnd(): void;
  /** Resolves when nobody can write any more, or after `stop`. */
  ended: Promise<void>;
  /** Stops reading as soon as nothing came for a while. */
  drain(): void;
  stop(): void;
}

/**
 * A pipe for the output of a child, read into one buffer. Node's own are sockets: those cannot be opened as /dev/stderr, and keep the
 * order of what is written to two of them for themselves.
 */
export async function openOutputPipe(take: TakeOutput): Promise<OutputPipe> {
  const { readEnd, writeEnd } = await makePipe();
  const name = readlinkSync(`/proc/self/fd/${writeEnd}`);
  let draining = false;
  let idle: NodeJS.Timeout | undefined;
  const options: SocketConstructorOpts & { onread: OnReadOpts } = {
    fd: readEnd,
    readable: true,
    writable: false,
    onread: {
      buffer: Buffer.allocUnsafeSlow(limits.outputChunkBytes),
      callback(bytes, buffer) {
        clearTimeout(idle);
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
  // A pipe that cannot be read has ended.
  socket.on('error', () => socket.destroy());
  socket.on('end', () => socket.destroy());
  socket.resume();

  function armDrain(): void {
    if (draining && !socket.destroyed) idle = setTimeout(() => socket.destroy(), limits.outputDrainMs);
  }

  return {
    writeEnd,
    name,
    closeWriteEnd: () => closeSync(writeEnd),
    ended: ended.then(() => clearTimeout(idle)),
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
