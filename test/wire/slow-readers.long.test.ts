import { expect, test } from 'vitest';
import { startDaemon } from '../support/daemon.js';
import { sized } from '../support/fault-sizes.js';
import { tallyEvents, type Tally } from '../support/tally.js';
import { begin, complaints, done, newSession, streamed } from '../support/wire.js';

// All that they leave unread is more than memory may grow by, whatever the size.
const deafCount = sized({ short: 33, long: 100, full: 500 });
const sessionCount = sized({ short: 3, long: 10, full: 10 });
const growthMax = sized({ short: 64, long: 64, full: 96 }) * 1024 * 1024;
const words = 200_000;
const text = streamed(words);

test(
  `${deafCount} clients that never read and one that does, while ${Math.round((sessionCount * text.length) / 1e6)} MB are said`,
  async () => {
    await using daemon = await startDaemon();
    const client = await daemon.raw();
    const events = `${daemon.paths.socket}.events`;
    const logId = done(await client.call('get_daemon')).log_id as string;
    const newSessions = () => Promise.all(Array.from({ length: sessionCount }, () => newSession(client)));
    let peak = 0;
    let looked = 0;
    const watch = (bytes: number): void => {
      if (bytes - looked < 500_000) return;
      looked = bytes;
      peak = Math.max(peak, daemon.rssBytes());
    };
    // What it costs to say this much to one who reads, once the heap has found its size.
    for (let round = 0; round < 3; round++) {
      looked = 0;
      const alone = await tallyEvents(events, { session_id: '*' }, text, watch);
      await Promise.all((await newSessions()).map((sessionId) => begin(client, sessionId, `stream ${words} words`)));
      await alone.until(() => alone.ended.size === sessionCount);
      alone.socket.destroy();
    }
    const baseline = peak;
    const sessions = await newSessions();

    const deaf: { tally: Tally; sessionId: string }[] = [];
    for (let i = 0; i < deafCount; i++) {
      const sessionId = i % 11 === 10 ? '*' : sessions[i % sessionCount]!;
      const tally = await tallyEvents(events, { session_id: sessionId }, text);
      tally.socket.pause();
      deaf.push({ tally, sessionId });
    }
    peak = 0;
    looked = 0;
    const fast = await tallyEvents(events, { session_id: '*' }, text, watch);
    const runs = await Promise.all(sessions.map((sessionId) => begin(client, sessionId, `stream ${words} words`)));

    await fast.until(() => fast.ended.size === sessionCount);
    expect(fast.wrong).toEqual([]);
    expect(fast.told.size).toBe(sessionCount);
    expect([...fast.told.values()]).toEqual(Array(sessionCount).fill(text.length));
    expect(fast.bytes()).toBeGreaterThan(sessionCount * text.length);
    for (let i = 0; i < 20; i++) {
      done(await client.call('get_state', { session_id: sessions[0] }));
      peak = Math.max(peak, daemon.rssBytes());
    }
    expect(peak - baseline).toBeLessThan(growthMax);

    // They wake up, each in its own time, and find all of it; the text too, as long as they stayed connected.
    const durable = new Map<string, number[]>([['*', fast.seqs]]);
    for (const [i, sessionId] of sessions.entries()) {
      const after = deaf.find((one) => one.sessionId === sessionId)!.tally.subscribed()!.payload.seq as number;
      const own = await tallyEvents(events, { session_id: sessionId, after, live: false }, text);
      await own.until(() => own.ended.has(runs[i]!));
      durable.set(sessionId, own.seqs);
      own.socket.destroy();
    }
    const expectedRuns = (sessionId: string): string[] => (sessionId === '*' ? runs : [runs[sessions.indexOf(sessionId)]!]);
    await Promise.all(
      deaf.map(async ({ tally, sessionId }, i) => {
        const heard = (one: Tally): boolean => expectedRuns(sessionId).every((runId) => one.ended.has(runId));
        if (i % 4 === 3) {
          // This one gave up and comes back at its cursor.
          tally.socket.destroy();
          const after = tally.subscribed()!.payload.seq;
          const back = await tallyEvents(events, { session_id: sessionId, after, log_id: logId, live: false }, text);
          await back.until(() => heard(back));
          expect(back.seqs).toEqual(durable.get(sessionId));
          back.socket.destroy();
          return;
        }
        tally.socket.resume();
        await tally.until(() => heard(tally));
        expect(tally.wrong).toEqual([]);
        expect(tally.seqs).toEqual(durable.get(sessionId));
        expect([...tally.told.values()]).toEqual(expectedRuns(sessionId).map(() => text.length));
        tally.socket.destroy();
      }),
    );
    fast.socket.destroy();
    expect(complaints(daemon)).toEqual([]);
  },
  sized({ short: 120_000, long: 180_000, full: 600_000 }),
);

test('one that reads a little at a time gets fewer and larger deltas, and every character', async () => {
  await using daemon = await startDaemon();
  const client = await daemon.raw();
  const sessionId = await newSession(client);
  let pieces = 0;
  const slow = await tallyEvents(`${daemon.paths.socket}.events`, { session_id: sessionId }, text, (_, socket) => {
    // After each piece it does something else until somebody else has been answered.
    pieces++;
    socket.pause();
    client.call('ping').then(
      () => socket.resume(),
      () => undefined,
    );
  });
  const runId = await begin(client, sessionId, `stream ${words} words`);
  await slow.until(() => slow.ended.has(runId));
  expect(pieces).toBeGreaterThan(5);
  expect(slow.wrong).toEqual([]);
  expect([...slow.told.values()]).toEqual([text.length]);
  slow.socket.destroy();
});
