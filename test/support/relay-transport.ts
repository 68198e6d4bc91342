import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { NoDaemon, type StreamKind, type Transport } from '../../src/client/index.js';

interface RelayLine {
  stream: number;
  open?: true;
  data?: string;
  close?: true;
}

const relayProgram = fileURLToPath(new URL('relay.js', import.meta.url));

/** Reaches a daemon through one child process that carries all streams over its standard input and output. */
export function startRelay(socketPath: string): Transport & AsyncDisposable & { opened: StreamKind[] } {
  const child = spawn(process.execPath, [relayProgram, socketPath], { stdio: ['pipe', 'pipe', 'inherit'] });
  const hearers = new Map<number, (line: RelayLine) => void>();
  const opened: StreamKind[] = [];
  let count = 0;
  createInterface({ input: child.stdout }).on('line', (text) => {
    const line = JSON.parse(text) as RelayLine;
    hearers.get(line.stream)?.(line);
  });
  const tell = (line: object, done?: () => void): void => void child.stdin.write(`${JSON.stringify(line)}\n`, () => done?.());

  return {
    name: 'relay',
    opened,
    open(kind) {
      const stream = ++count;
      const duplex = new Duplex({
        read: () => undefined,
        write: (chunk: Buffer, _encoding, done) => tell({ stream, data: chunk.toString('base64') }, done),
        final: (done) => tell({ stream, close: true }, done),
        destroy(error, done) {
          hearers.delete(stream);
          tell({ stream, close: true }, () => done(error));
        },
      });
      return new Promise<Duplex>((resolve, reject) => {
        hearers.set(stream, ({ open, data, close }) => {
          if (open) {
            opened.push(kind);
            resolve(duplex);
          }
          if (data !== undefined) duplex.push(Buffer.from(data, 'base64'));
          if (!close) return;
          reject(new NoDaemon('no daemon at the other end of the relay'));
          duplex.push(null);
        });
        tell({ stream, open: kind });
      });
    },
    async [Symbol.asyncDispose]() {
      const exited = once(child, 'exit');
      child.stdin.end();
      await exited;
    },
  };
}
