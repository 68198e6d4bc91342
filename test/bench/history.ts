import { join } from 'node:path';
import { pathsIn } from '../support/daemon.js';
import { loadSqlite } from '../../src/store/sqlite.js';
import type { Measurement } from './figures.js';
import { call, commandLine, openLines, type LineClient } from './line-client.js';
import { alternate, timed } from './numbers.js';
import { newPlace, startBenchDaemon } from './processes.js';
import { messageText, seedHistory } from './seeded-history.js';

const messages = 10_000;

/** As many texts of the same size, in a table of their own. */
function openPlain(place: string): { read(): unknown[]; close(): void } {
  const Sqlite = loadSqlite();
  const db = new Sqlite(join(place, 'plain.db'));
  db.pragma('journal_mode = WAL');
  db.exec('CREATE TABLE message (no INTEGER PRIMARY KEY, id TEXT, text TEXT)');
  const insert = db.prepare('INSERT INTO message (id, text) VALUES (?, ?)');
  db.transaction(() => {
    for (let i = 0; i < messages; i++) insert.run(`msg_${String(i).padStart(21, '0')}`, messageText(i));
  })();
  const all = db.prepare('SELECT id, text FROM message ORDER BY no');
  return { read: () => all.all(), close: () => void db.close() };
}

async function readAll(client: LineClient, sessionId: string): Promise<void> {
  let read = 0;
  for (let before: string | undefined, more = true; more;) {
    const page = await call<{ messages: { id: string }[]; has_more: boolean }>(client, 'get_messages', {
      session_id: sessionId,
      limit: 500,
      ...(before === undefined ? {} : { before }),
    });
    read += page.messages.length;
    before = page.messages[0]?.id;
    more = page.has_more;
  }
  if (read !== messages) throw new Error(`${read} messages came, not ${messages}`);
}

export const history: Measurement = {
  name: 'history',
  async measure({ quick }) {
    const root = newPlace();
    const sessionId = seedHistory(pathsIn(root).stateDir, messages);
    const plain = openPlain(root);
    await using daemon = await startBenchDaemon({ root });
    using client = await openLines(daemon.paths.socket);
    const readPlain = (): Promise<number> => timed(async () => plain.read());
    const readFirst = (): Promise<number> => timed(() => client.ask(commandLine('get_messages', { session_id: sessionId, limit: 100 })));
    const readWhole = (): Promise<number> => timed(() => readAll(client, sessionId));
    for (const warmUp of [readPlain, readFirst, readWhole, readPlain, readFirst]) await warmUp();
    const first = await alternate(quick ? 15 : 41, readPlain, readFirst);
    const whole = await alternate(quick ? 5 : 9, readPlain, readWhole);
    plain.close();
    return [
      { name: 'first page (100) of 10,000 messages', unit: 'ms', ...first, must: 0.7, should: 0.3 },
      { name: 'full history of 10,000 messages', unit: 'ms', ...whole, must: 20, should: 7 },
    ];
  },
};
