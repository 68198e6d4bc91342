import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turnOfLoop, setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createRandom } from '../model/world.js';
import { startDaemon, type TestDaemon } from '../support/daemon.js';
import { faultSize } from '../support/fault-sizes.js';
import { checkStore } from './workload.js';

const full = faultSize === 'full';
const kills = full ? 100 : 20;
const seed = process.env.BERTH_SEED === undefined ? Date.now() % 2 ** 31 : Number(process.env.BERTH_SEED);

/** Starts a daemon and kills it some time after its store has begun to appear: while it is being made, moved to its place or opened. */
async function killAtBirth(daemon: TestDaemon, afterMs: number): Promise<void> {
  const starting = daemon.start().catch((error: unknown) => expect(String(error)).toMatch('the daemon ended with null'));
  const file = join(daemon.paths.stateDir, 'berth.db');
  while (!existsSync(`${file}.new`) && !existsSync(file)) await turnOfLoop();
  if (afterMs > 0) await delay(afterMs);
  await daemon.kill9();
  await starting;
}

test(
  `a daemon that is killed while it makes its store can be started again (${kills} times)`,
  async () => {
    await using daemon = await startDaemon();
    const random = createRandom(seed);
    for (let i = 0; i < kills; i++) {
      await daemon.terminate();
      rmSync(daemon.paths.stateDir, { recursive: true });
      await killAtBirth(daemon, random() < 0.3 ? 0 : random() * 15);
      await daemon.start();
      const client = await daemon.raw();
      expect(await client.call('new_session')).toMatchObject({ ok: true, seq: 1 });
      client.close();
      await daemon.terminate();
      checkStore(join(daemon.paths.stateDir, 'berth.db'));
    }
  },
  kills * 5_000,
);
