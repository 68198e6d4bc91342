import { readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { faultSize } from '../support/fault-sizes.js';
import { launch, makePlace, type Launched } from '../support/processes.js';
import { openRaw } from '../support/raw-client.js';
import { done } from '../support/wire.js';

const rounds = faultSize === 'full' ? 20 : 1;
const herd = 50;

test(
  `${herd} daemons that start at once are one daemon and ${herd - 1} clear refusals`,
  async () => {
    for (let round = 0; round < rounds; round++) {
      using place = makePlace();
      // Every other round finds what a killed daemon left.
      if (round % 2 === 1) {
        const killed = launch({ env: place.env() });
        await killed.ready;
        killed.child.kill('SIGKILL');
        await killed.ended;
      }
      const launched = Array.from({ length: herd }, () => launch({ env: place.env() }));
      const settled = await Promise.all(
        launched.map((one) => Promise.race([one.ready.then(() => 'ready'), one.ended]).catch(() => 'ended')),
      );
      const winners = launched.filter((_, i) => settled[i] === 'ready');
      const losers = launched.filter((one) => !winners.includes(one));
      expect(winners).toHaveLength(1);
      for (const loser of losers)
        expect({ code: await loser.ended, stderr: loser.stderr() }).toEqual({
          code: 1,
          stderr: expect.stringMatching(`^berth: a daemon already runs on ${place.stateDir}.*\n$`),
        });
      await serves(place.socket, winners[0]!);
      expect(readdirSync(place.stateDir).filter((name) => name.startsWith('program-'))).toHaveLength(1);
      await winners[0]![Symbol.asyncDispose]();
      expect(readdirSync(dirname(place.socket))).toEqual([]);
    }
  },
  // Fifty processes of Node on a small machine that is busy besides: starting them takes most of it.
  rounds * 60_000,
);

async function serves(socket: string, winner: Launched): Promise<void> {
  const clients = await Promise.all(Array.from({ length: 50 }, () => openRaw(socket)));
  const pids = await Promise.all(clients.map(async (client) => done(await client.call('get_daemon')).pid as number));
  expect(new Set(pids)).toEqual(new Set([winner.child.pid]));
  for (const client of clients) client.close();
}
