import { defineConfig } from 'vitest/config';
import manifest from './package.json' with { type: 'json' };

export default defineConfig({
  define: { BERTH_VERSION: JSON.stringify(manifest.version) },
  test: {
    pool: 'forks',
    include: ['test/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    retry: 0,
    // Two cores are kept busy: most of a suite is waiting for a daemon of its own.
    maxWorkers: 3,
  },
});
