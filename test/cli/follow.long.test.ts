import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { loadSqlite } from '../../src/store/sqlite.js';
import { startDaemon } from '../support/daemon.js';
import { parseLines, poll, runOk, startCommand } from './run-cli.js';

vi.setConfig({ testTimeout: 180_000 });

test('a name misses nothing through kills of the follower and of the daemon, and repeats at most the line at which its follower was killed', async () => {
  await using daemon = await startDaemon();
  const heard: number[][] = [];
  const said: string[] = [];
  const ended: string[] = [];
  const session_id = (await runOk(daemon, ['new', '--title', 'killed'])).trim();
  const first = await daemon.connect();
  await first.call('ack_cursor', { name: 'phone' });

  async function sayTwice(): Promise<void> {
    const berth = await daemon.connect();
    for (const text of ['say one', 'say two']) {
      const reply = await berth.call('prompt', { session_id, text });
      if (reply.ok) ended.push(reply.payload.run_id);
    }
    berth.close();
  }

  for (let round = 0; round < 4; round++) {
    await sayTwice();
    await using follower = startCommand(daemon, ['follow', '--as', 'phone', '--json']);
    // Killed as soon as something was printed: perhaps before, perhaps after it was acknowledged.
    const printed = await follower.until((text) => text.includes('\n'));
    if (round % 2 === 0) await daemon.kill9();
    follower.child.kill('SIGKILL');
    const lines = parseLines((await follower.finished()).stdout || printed);
    heard.push(lines.map(({ seq }) => seq ?? 0));
    said.push(...lines.map(({ run_id }) => String(run_id)));
    if (round % 2 === 0) await daemon.start();
  }
  await using last = startCommand(daemon, ['follow', '--as', 'phone', '--json']);
  await sayTwice();
  const rest = parseLines(await last.until((text) => text.includes(ended.at(-1) ?? '')));
  heard.push(rest.map(({ seq }) => seq ?? 0));
  said.push(...rest.map(({ run_id }) => String(run_id)));
  expect([...new Set(said)]).toEqual(ended);
  for (const [n, seqs] of heard.entries()) {
    expect(seqs).toEqual([...new Set(seqs)].sort((a, b) => a - b));
    expect(seqs[0]).toBeGreaterThanOrEqual(heard[n - 1]?.at(-1) ?? 0);
  }
});

test('a follower waits for a daemon that was killed or restarted, and goes on without a gap or a repetition', async () => {
  await using daemon = await startDaemon();
  const session_id = (await runOk(daemon, ['new'])).trim();
  await (await daemon.connect()).call('ack_cursor', { name: 'stays' });
  await using follower = startCommand(daemon, ['follow', '--as', 'stays', '--json']);
  const ended: string[] = [];
  for (const end of [daemon.kill9, daemon.terminate]) {
    const berth = await daemon.connect();
    const reply = await berth.call('prompt', { session_id, text: 'say ahoy' });
    if (reply.ok) ended.push(reply.payload.run_id);
    berth.close();
    await end();
    await daemon.start();
  }
  const printed = await follower.until((text) => text.includes(ended.at(-1) ?? ''));
  expect(parseLines(printed).map(({ run_id }) => run_id)).toEqual(ended);
  const berth = await daemon.connect();
  await poll(
    async () => {
      const listed = await berth.call('list_cursors');
      return listed.ok ? listed.payload.cursors[0]?.seq : undefined;
    },
    (seq) => seq === parseLines(printed).at(-1)?.seq,
  );
});

test('a name whose events were pruned says so, and goes on', async () => {
  await using daemon = await startDaemon();
  const session_id = (await runOk(daemon, ['new'])).trim();
  const berth = await daemon.connect();
  const begun = await berth.call('ack_cursor', { name: 'late' });
  const from = begun.ok ? begun.payload.seq : 0;
  for (const text of ['say one', 'say two']) await berth.call('prompt', { session_id, text });
  const before = await berth.call('list_cursors');
  const floor = (before.ok ? before.payload.head : 0) - 2;
  berth.close();
  await daemon.terminate();
  const Sqlite = loadSqlite();
  const db = new Sqlite(join(daemon.paths.stateDir, 'berth.db'));
  db.prepare('DELETE FROM event WHERE seq <= ?').run(floor);
  db.prepare("INSERT OR REPLACE INTO meta (key, value) VALUES ('log_floor', ?)").run(String(floor));
  db.close();
  await daemon.start();
  expect(await runOk(daemon, ['follow', '--ls'])).toContain('some of which were removed');
  await using follower = startCommand(daemon, ['follow', '--as', 'late', '--json']);
  const [gap, end] = parseLines(await follower.until((text) => text.split('\n').length > 2));
  expect(gap).toEqual({ happened: 'gap', from, to: floor });
  expect(end).toMatchObject({ happened: 'end', outcome: 'completed' });
});
