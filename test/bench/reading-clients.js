// Many subscribers in a process of their own, so that what reading costs is nobody's but theirs.
// The first of them keeps what it was sent once it was subscribed; who is slow to say so is first told of other things.
import { Buffer } from 'node:buffer';
import { writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';

const [, , path, count, sessionIds, lastType, recordFile] = process.argv;
const accepted = Buffer.from('"type":"subscribed"');
const last = Buffer.from(`"type":"${lastType}"`);
const sessions = sessionIds.split(',');
const record = [];
let subscribed = 0;
let finished = 0;

for (let i = 0; i < Number(count); i++) openReader(sessions[i % sessions.length], i === 0);

function openReader(session_id, keeps) {
  const socket = createConnection(path);
  let listening = false;
  let ending = false;
  let tail = Buffer.alloc(0);
  socket.write(`${JSON.stringify({ v: '1', id: 's', type: 'subscribe', payload: { session_id } })}\n`);
  socket.on('data', (chunk) => {
    const seen = tail.length === 0 ? chunk : Buffer.concat([tail, chunk]);
    if (!listening) return listen(seen);
    if (keeps) record.push(chunk);
    ending ||= seen.includes(last);
    if (ending && chunk.at(-1) === 10) finish();
    tail = seen.subarray(Math.max(0, seen.length - last.length));
  });

  function listen(seen) {
    listening = seen.includes(accepted) && seen.at(-1) === 10;
    tail = listening ? Buffer.alloc(0) : seen;
    if (listening && ++subscribed === Number(count)) process.send('ready');
  }

  function finish() {
    socket.removeAllListeners('data');
    if (++finished < Number(count)) return;
    writeFileSync(recordFile, Buffer.concat(record));
    process.send('done');
  }
}
