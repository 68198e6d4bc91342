import { configDefaults, defineConfig } from 'vitest/config';
import base from './vitest.config.js';

/** Kills, floods, races and random sequences: what takes so long that `npm test` leaves it out. */
export default defineConfig({
  ...base,
  test: { ...base.test, include: ['test/**/*.long.test.ts'], exclude: configDefaults.exclude, isolate: true },
});
