import { expect, test } from 'vitest';
import { createRandom } from '../model/world.js';
import { startDaemon } from '../support/daemon.js';
import { faultSize } from '../support/fault-sizes.js';
import { createWorkload, inLanes, median, tell, type Figures } from './workload.js';

const full = faultSize === 'full';
const rounds = full ? 320 : 60;
const seed = process.env.BERTH_SEED === undefined ? Date.now() % 2 ** 31 : Number(process.env.BERTH_SEED);

async function killAtRandom(lane: number): Promise<Figures> {
  await using daemon = await startDaemon({ wps: 600 });
  const random = createRandom(seed + lane);
  const workload = await createWorkload(daemon, random);
  for (let i = 0; i < rounds / 2; i++) {
    const again = i % 3 === 1 ? Array.from({ length: 2 + Math.floor(random() * 6) }, () => random() * 150) : [];
    const loadMs = i % 12 === 5 ? 550 + random() * 300 : random() ** 2 * 120;
    await workload.round({ loadMs, again }).catch((error: unknown) => {
      throw new Error(`BERTH_SEED=${seed}, lane ${lane}, kill ${i}: ${(error as Error).message}`, { cause: error });
    });
  }
  await workload.finish();
  return workload.figures;
}

test(
  `${rounds} kills -9 at random moments, and as many during the boots that follow: what was acknowledged is there once`,
  async () => {
    const figures = await inLanes(killAtRandom);
    process.stdout.write(tell('random kills', figures));
    expect(figures.acknowledged).toBeGreaterThan(2 * rounds);
    expect(figures.settled).toBeGreaterThan(rounds / 4);
    expect(figures.cutTexts).toBeGreaterThan(0);
    expect(figures.parked).toBeGreaterThan(0);
    expect(median(figures.readyMs)).toBeLessThan(1_000);
  },
  rounds * 5_000,
);
