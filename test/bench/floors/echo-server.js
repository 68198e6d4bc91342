// A bare Node socket server: reads a line of JSON, answers a line of JSON, and does nothing else.
import { createServer } from 'node:net';

let seq = 0;
createServer((socket) => {
  let rest = '';
  socket.setEncoding('utf8');
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const { id } = JSON.parse(line);
      socket.write(`${JSON.stringify({ v: '1', id, type: 'pong', ok: true, seq: ++seq, payload: { message: 'pong' } })}\n`);
    }
  });
}).listen(process.argv[2]);
