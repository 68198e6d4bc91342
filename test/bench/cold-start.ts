import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { cleanEnv, pathsIn, program } from '../support/daemon.js';
import type { Measurement } from './figures.js';
import { commandLine, openLinesWhenUp } from './line-client.js';
import { alternate } from './numbers.js';
import { newPlace, spawnFloor, stopper } from './processes.js';

async function untilAnswered(socket: string): Promise<void> {
  using client = await openLinesWhenUp(socket);
  await client.ask(commandLine('ping'));
}

async function startBare(): Promise<number> {
  const from = performance.now();
  await using floor = spawnFloor('echo-server');
  await untilAnswered(floor.socket);
  return performance.now() - from;
}

async function startFresh(): Promise<number> {
  const root = newPlace();
  const paths = pathsIn(root);
  for (const dir of ['s', 'home', 'work']) mkdirSync(join(root, dir), { mode: 0o700 });
  const env = cleanEnv(root, { BERTH_SOCKET: paths.socket, BERTH_STATE_DIR: paths.stateDir, BERTH_CONFIG_DIR: paths.configDir });
  const from = performance.now();
  const child = spawn(process.execPath, [program, 'daemon', 'run'], {
    cwd: join(root, 'work'),
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const stop = stopper(child);
  await untilAnswered(paths.socket);
  const tookMs = performance.now() - from;
  await stop();
  return tookMs;
}

export const coldStart: Measurement = {
  name: 'cold start',
  async measure({ quick }) {
    const pair = await alternate(quick ? 7 : 15, startBare, startFresh);
    return [{ name: 'cold start to first reply', unit: 'ms', ...pair, must: 2.2, should: 1.6 }];
  },
};
