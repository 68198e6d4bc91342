import { spawnSync } from 'node:child_process';
import { pathsIn } from '../support/daemon.js';
import type { Measurement } from './figures.js';
import { alternate, timed } from './numbers.js';
import { newPlace, startBenchDaemon } from './processes.js';
import { messageText, seedHistory } from './seeded-history.js';
import { openBenchTerminal } from './tui-terminal.js';

const few = 100;
const many = 10_000;

export const tuiStart: Measurement = {
  name: 'tui start',
  async measure({ quick }) {
    await using daemon = await startBenchDaemon();
    const open = async (): Promise<number> => {
      await using terminal = openBenchTerminal(daemon, []);
      return await terminal.next('ask for something');
    };
    const bare = (): Promise<number> => timed(async () => spawnSync(process.execPath, ['-e', '0']));
    await open();
    const pair = await alternate(quick ? 9 : 21, bare, open);
    return [{ name: 'terminal: start to first frame', unit: 'ms', ...pair, must: 2.5, should: 1.8 }];
  },
};

export const tuiAttach: Measurement = {
  name: 'tui attach',
  async measure({ quick }) {
    const roots = [few, many].map((messages) => {
      const root = newPlace();
      return { root, messages, session: seedHistory(pathsIn(root).stateDir, messages) };
    });
    const [small, large] = roots;
    if (!small || !large) return [];
    await using first = await startBenchDaemon({ root: small.root });
    await using second = await startBenchDaemon({ root: large.root });
    const open = async (daemon: typeof first, { session, messages }: typeof small): Promise<number> => {
      await using terminal = openBenchTerminal(daemon, ['attach', session]);
      return await terminal.next(messageText(messages - 1).slice(0, 20));
    };
    await open(first, small);
    await open(second, large);
    const pair = await alternate(
      quick ? 9 : 21,
      () => open(first, small),
      () => open(second, large),
    );
    return [{ name: 'terminal: attach to 10,000 messages against 100', unit: 'ms', ...pair, must: 1.5, should: 1.1 }];
  },
};
