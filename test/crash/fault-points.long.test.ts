import { expect, test } from 'vitest';
import { faultPoints } from '../../src/engine/door/fault-points.js';
import { createRandom } from '../model/world.js';
import { startDaemon } from '../support/daemon.js';
import { faultSize } from '../support/fault-sizes.js';
import { createWorkload, inLanes, median, tell, type Figures } from './workload.js';

const full = faultSize === 'full';
const seed = process.env.BERTH_SEED === undefined ? Date.now() % 2 ** 31 : Number(process.env.BERTH_SEED);
const passes = full ? [1, 2, 3, 5, 8, 13, 21, 34, 55, 89] : [1, 2, 3, 5, 8];
const repeats = full ? 4 : 1;
/** Long enough to pass every place a few times, whatever else the machine does. */
const loadMs = 15_000;

const places = faultPoints.flatMap((point) => passes.map((n) => `${point}:${n}`));

async function dieAtPlaces(lane: number): Promise<Figures> {
  await using daemon = await startDaemon({ wps: 600 });
  const workload = await createWorkload(daemon, createRandom(seed + lane));
  for (let i = lane; i < places.length * repeats; i += 2) {
    const fault = places[i % places.length]!;
    await workload.round({ loadMs, fault }).catch((error: unknown) => {
      throw new Error(`BERTH_SEED=${seed}, ${fault}: ${(error as Error).message}`, { cause: error });
    });
  }
  await workload.finish();
  return workload.figures;
}

test(
  `a daemon that dies at any of ${faultPoints.length} places, the ${passes.join(', ')}th time it passes, has kept its word`,
  async () => {
    const figures = await inLanes(dieAtPlaces);
    process.stdout.write(tell('named places', figures));
    expect([...figures.hits.keys()].toSorted()).toEqual(places.toSorted());
    expect(median(figures.readyMs)).toBeLessThan(1_000);
  },
  places.length * repeats * 20_000,
);

test(
  'a daemon that dies again and again while it settles what the one before left, settles it in the end',
  async () => {
    await using daemon = await startDaemon({ wps: 600 });
    const workload = await createWorkload(daemon, createRandom(seed));
    const bootFaults = ['commit.inside:1', 'commit.done:1', 'commit.inside:2', 'commit.done:2', 'commit.inside:3'];
    for (let i = 0; i < (full ? 20 : 2); i++) {
      await workload.round({ loadMs: 60, bootFaults }).catch((error: unknown) => {
        throw new Error(`BERTH_SEED=${seed}, round ${i}: ${(error as Error).message}`, { cause: error });
      });
    }
    await workload.finish();
    process.stdout.write(tell('boots that die', workload.figures));
    expect(workload.figures.hits.size).toBeGreaterThan(0);
  },
  full ? 600_000 : 180_000,
);
