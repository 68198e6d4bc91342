import { configDefaults, defineConfig } from 'vitest/config';
import manifest from './package.json' with { type: 'json' };

export default defineConfig({
  define: { BERTH_VERSION: JSON.stringify(manifest.version) },
  test: {
    pool: 'forks',
    include: ['test/**/*.test.ts'],
    // Suites that take long are run by npm run test:long.
    exclude: [...configDefaults.exclude, 'test/**/*.long.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    retry: 0,
    // Loading what a file imports takes longer than most files do: a worker loads it once for all its files.
    isolate: false,
    // So a test that fails must not leave its environment to the files after it.
    unstubEnvs: true,
    // Most of a suite is waiting for other processes: two workers would leave two cores half idle.
    maxWorkers: 3,
  },
});
