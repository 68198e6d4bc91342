import { configDefaults, defineConfig } from 'vitest/config';
import base from './vitest.config.js';

/** Suites that `npm test` runs with fewer rounds, clients or seconds. */
export const sizedSuites = [
  'test/e2e/hands.test.ts',
  'test/engine/strict-history.test.ts',
  'test/model/sequences.test.ts',
  'test/model/sockets.test.ts',
  'test/providers/replay.test.ts',
  'test/tui/text/markdown-stream.test.ts',
  'test/wire/fuzz.test.ts',
];

/** Kills, floods, races and random sequences, in sizes that `npm test` has no time for. */
export default defineConfig({
  ...base,
  test: {
    ...base.test,
    include: ['test/**/*.long.test.ts', ...sizedSuites],
    exclude: configDefaults.exclude,
    env: { BERTH_FAULTS: process.env.BERTH_FAULTS ?? 'long' },
    isolate: true,
    maxWorkers: 2,
  },
});
