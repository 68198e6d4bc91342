import { defineConfig } from 'vitest/config';
import base from './vitest.config.js';

/** Conversations with real models: they need keys and a network, so they are no part of the tests. */
export default defineConfig({ ...base, test: { ...base.test, include: ['test/live/*.ts'], maxWorkers: 1 } });
