import { afterAll, beforeAll } from 'vitest';
import { startDaemon, type DaemonSetup, type TestDaemon } from './daemon.js';

/** One daemon for all tests of a file that do not kill it; each test has sessions of its own. */
export function shareDaemon(setup: DaemonSetup = {}): () => TestDaemon {
  let daemon: TestDaemon | undefined;
  beforeAll(async () => {
    daemon = await startDaemon(setup);
  });
  afterAll(async () => {
    await daemon?.[Symbol.asyncDispose]();
  });
  return () => {
    if (!daemon) throw new Error('the daemon is started before the first test');
    return daemon;
  };
}
