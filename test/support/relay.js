// A relay as `ssh host` would run one: both streams of a daemon over one pair of pipes, each line `{open|data|close, kind?, base64?}`.
import { Buffer } from 'node:buffer';
import { createConnection } from 'node:net';
import { createInterface } from 'node:readline';

const [socketPath] = process.argv.slice(2);
const sockets = new Map();
const tell = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);

function open(stream, kind) {
  const socket = createConnection(kind === 'events' ? `${socketPath}.events` : socketPath);
  sockets.set(stream, socket);
  socket.once('connect', () => tell({ stream, open: true }));
  socket.on('data', (chunk) => tell({ stream, data: chunk.toString('base64') }));
  socket.on('error', () => socket.destroy());
  socket.on('close', () => {
    sockets.delete(stream);
    tell({ stream, close: true });
  });
}

createInterface({ input: process.stdin })
  .on('line', (text) => {
    const { stream, open: kind, data, close } = JSON.parse(text);
    if (kind) open(stream, kind);
    if (data) sockets.get(stream)?.write(Buffer.from(data, 'base64'));
    if (close) sockets.get(stream)?.destroy();
  })
  .on('close', () => process.exit());
