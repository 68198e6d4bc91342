// A bare server that commits one row for each line, as durably as SQLite can, and then answers.
import { createRequire } from 'node:module';
import { createServer } from 'node:net';

const require = createRequire(import.meta.url);
const Sqlite = require(Number(process.versions.napi) >= 10 ? 'better-sqlite3-napi' : 'better-sqlite3');
const [, , socketPath] = process.argv;
const db = new Sqlite(`${socketPath}.db`);
db.pragma('journal_mode = WAL');
db.pragma('synchronous = FULL');
db.exec('CREATE TABLE input (seq INTEGER PRIMARY KEY, id TEXT, text TEXT)');
const insert = db.prepare('INSERT INTO input (id, text) VALUES (?, ?)');

createServer((socket) => {
  let rest = '';
  socket.setEncoding('utf8');
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const { id, payload } = JSON.parse(line);
      const { lastInsertRowid } = insert.run(id, payload.text);
      socket.write(`${JSON.stringify({ v: '1', id, type: 'accepted', ok: true, seq: lastInsertRowid, payload: { input_id: id } })}\n`);
    }
  });
}).listen(socketPath);
