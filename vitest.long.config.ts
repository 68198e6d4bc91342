import { configDefaults, defineConfig } from 'vitest/config';
import base from './vitest.config.js';

/** Suites that `npm test` runs with fewer rounds, clients or seconds. */
export const sizedSuites = [
  'test/cli/auth.test.ts',
  'test/cli/commands.test.ts',
  'test/cli/stuck-daemon.test.ts',
  'test/e2e/hands.test.ts',
  'test/engine/races.test.ts',
  'test/engine/restart.test.ts',
  'test/engine/strict-history.test.ts',
  'test/machine/auth-file.test.ts',
  'test/model/sequences.test.ts',
  'test/model/sockets.test.ts',
  'test/providers/replay.test.ts',
  'test/server/line-bounds.test.ts',
  'test/server/replies.test.ts',
  'test/tools/pinned-files.test.ts',
  'test/wire/fuzz.test.ts',
  'test/wire/slow-readers.test.ts',
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
