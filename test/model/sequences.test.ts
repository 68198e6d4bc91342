import fc from 'fast-check';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { sized } from '../support/fault-sizes.js';
import { shrinkSteps } from './shrink.js';
import { anyStep, checkInputs, createMemory, doStep, type Step } from './steps.js';
import { createWorld } from './world.js';

const sequences = Number(process.env.BERTH_SEQUENCES ?? sized({ short: 60, long: 250, full: 10_000 }));
const seed = process.env.BERTH_SEED === undefined ? Date.now() % 2 ** 31 : Number(process.env.BERTH_SEED);
const path = process.env.BERTH_PATH;

beforeAll(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterAll(() => {
  vi.useRealTimers();
});

async function runSequence(worldSeed: number, steps: Step[]): Promise<void> {
  const world = createWorld(worldSeed);
  try {
    world.start();
    const memory = createMemory();
    for (const step of steps) await doStep(world, memory, step);
    await world.checkAtRest();
    await world.finishReading();
    checkInputs(world, memory);
    if (worldSeed % 3 === 0) await world.deleteAll();
  } finally {
    await world.end();
  }
}

test(
  `${sequences} random sequences: rows, log and clients agree, and the promises of the protocol hold at every step`,
  async () => {
    const steps = fc.array(anyStep, { minLength: 30, maxLength: 60, size: 'max' });
    const property = fc.asyncProperty(fc.nat(), steps, runSequence);
    const result = await fc.check(property, { seed, numRuns: sequences, endOnFailure: true, ...(path === undefined ? {} : { path }) });
    if (!result.failed) return;
    const [worldSeed, failing] = result.counterexample ?? [0, []];
    const { steps: shrunk, error } = await shrinkSteps(failing, (fewer) => runSequence(worldSeed, fewer));
    const story = shrunk.map(({ turns, session, deed }) => `  ${turns} turns, session ${session}: ${JSON.stringify(deed)}`).join('\n');
    const why = error instanceof Error ? (error.stack ?? error.message) : String(error);
    expect.fail(`replay with BERTH_SEED=${result.seed} BERTH_PATH=${result.counterexamplePath}\n${story}\n${why}`);
  },
  Math.max(300_000, sequences * 1_000),
);
