import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { limits } from '../../src/protocol/limits.js';

const source = fileURLToPath(new URL('../../src/daemon/heap-bounds.ts', import.meta.url));

/** Lets objects survive collection after collection, and tells how large the young generation has become. */
async function sizeAfterSurvivors(start: string, options: string[] = []): Promise<number> {
  const script = `
    import { setImmediate as nextTurn } from 'node:timers/promises';
    import { getHeapSpaceStatistics } from 'node:v8';
    import { boundYoungGeneration } from ${JSON.stringify(source)};
    ${start};
    const kept = new Array(200_000);
    for (let i = 0; i < 4_000_000; i++) {
      kept[i % kept.length] = { number: i };
      if (i % 1_000 === 0) await nextTurn();
    }
    console.log(getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space').space_size);`;
  const args = [...options, '--import', 'tsx', '--input-type=module', '-e', script];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return Number(stdout);
}

test('the young generation stays within its bound, however much survives', async () => {
  const [bounded, unbounded] = await Promise.all([sizeAfterSurvivors('boundYoungGeneration()'), sizeAfterSurvivors('')]);
  expect(unbounded).toBeGreaterThan(limits.youngGenerationBytesMax);
  expect(bounded).toBeLessThanOrEqual(limits.youngGenerationBytesMax);
});

test('a size that was chosen with an option of Node is left alone', async () => {
  expect(await sizeAfterSurvivors('boundYoungGeneration()', ['--max-semi-space-size=16'])).toBeGreaterThan(limits.youngGenerationBytesMax);
});
