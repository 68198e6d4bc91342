import { expect, test } from 'vitest';
import { createRandom } from '../model/world.js';
import { startDaemon } from '../support/daemon.js';
import { createWorkload, median, tell } from './workload.js';

const full = process.env.BERTH_FAULTS === 'full';
const rounds = full ? 320 : 60;
const seed = process.env.BERTH_SEED === undefined ? Date.now() % 2 ** 31 : Number(process.env.BERTH_SEED);

test(
  `${rounds} kills -9 at random moments, and as many during the boots that follow: what was acknowledged is there once`,
  async () => {
    await using daemon = await startDaemon({ wps: 600 });
    const random = createRandom(seed);
    const workload = await createWorkload(daemon, random);
    for (let i = 0; i < rounds; i++) {
      const again = i % 3 === 1 ? Array.from({ length: 2 + Math.floor(random() * 6) }, () => random() * 150) : [];
      const loadMs = i % 12 === 5 ? 550 + random() * 300 : random() ** 2 * 120;
      await workload.round({ loadMs, again }).catch((error: unknown) => {
        throw new Error(`BERTH_SEED=${seed}, kill ${i}: ${(error as Error).message}`, { cause: error });
      });
    }
    await workload.finish();
    process.stdout.write(tell('random kills', workload.figures));
    expect(workload.figures.acknowledged).toBeGreaterThan(2 * rounds);
    expect(workload.figures.settled).toBeGreaterThan(rounds / 4);
    expect(workload.figures.cutTexts).toBeGreaterThan(0);
    expect(workload.figures.parked).toBeGreaterThan(0);
    expect(median(workload.figures.readyMs)).toBeLessThan(1_000);
  },
  rounds * 5_000,
);
