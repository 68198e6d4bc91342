import { spawnSync } from 'node:child_process';
import { program } from '../support/daemon.js';
import type { Measurement } from './figures.js';
import { call, newSession, openLines } from './line-client.js';
import { alternate, timed } from './numbers.js';
import { startBenchDaemon } from './processes.js';

export const cliCommand: Measurement = {
  name: 'cli command',
  async measure({ quick }) {
    await using daemon = await startBenchDaemon();
    using client = await openLines(daemon.paths.socket);
    await call(client, 'prompt', { session_id: await newSession(client), text: 'say ahoy' });
    const run = (args: string[]): number | null =>
      spawnSync(process.execPath, args, { cwd: daemon.workdir, env: daemon.env, stdio: ['ignore', 'ignore', 'ignore'], timeout: 10_000 })
        .status;
    const runOrThrow = (args: string[]): Promise<number> =>
      timed(async () => {
        if (run(args) !== 0) throw new Error(`node ${args.join(' ')} failed`);
      });
    if (run([program, 'ls']) !== 0) return [];
    const pair = await alternate(
      quick ? 9 : 21,
      () => runOrThrow(['-e', '0']),
      () => runOrThrow([program, 'ls']),
    );
    return [{ name: 'berth ls', unit: 'ms', ...pair, must: 1.6, should: 1.3 }];
  },
};
