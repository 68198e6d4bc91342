import { defineConfig } from 'vitest/config';
import manifest from './package.json' with { type: 'json' };

export default defineConfig({
  define: { BERTH_VERSION: JSON.stringify(manifest.version) },
  test: {
    pool: 'forks',
    include: ['test/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    retry: 0,
    // Most of a suite is waiting for a daemon of its own.
    maxWorkers: 2,
  },
});
