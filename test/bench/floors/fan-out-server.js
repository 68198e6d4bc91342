// A bare fan-out: writes the lines of a file to everyone who subscribed, one line a tick.
import { Buffer } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout } from 'node:timers';

const subscribers = new Set();
let lines = [];

function fanOut(at) {
  const line = lines[at];
  if (!line) return;
  for (const subscriber of subscribers) subscriber.write(line);
  setTimeout(fanOut, 1, at + 1);
}

createServer((socket) => {
  let rest = '';
  socket.on('error', () => socket.destroy());
  socket.on('close', () => subscribers.delete(socket));
  socket.on('data', (chunk) => {
    const asked = (rest + chunk.toString()).split('\n');
    rest = asked.pop() ?? '';
    for (const line of asked) answer(JSON.parse(line));
  });

  function answer({ type, payload }) {
    if (type === 'subscribe') subscribers.add(socket);
    if (type === 'load') {
      lines = readFileSync(payload.file, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => Buffer.from(`${line}\n`));
    }
    if (type === 'go') fanOut(0);
    socket.write(`{"type":"${type}d","ok":true,"payload":{}}\n`);
  }
}).listen(process.argv[2]);
