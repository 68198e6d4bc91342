import { NoDaemon } from '../../../client/errors.js';
import { exit } from '../../exit.js';
import { orRefused } from '../../refusals.js';
import type { Subcommand, Cli } from '../../subcommand.js';
import { refuseIdleService } from './idle-service.js';

interface Args {
  json?: true;
}

export const daemonStart: Subcommand = {
  usage: 'daemon start',
  hosts: 'refused',
  summary: 'Start the daemon in the background, unless it runs already.',
  options: { '--json': 'print what is known of it as JSON' },
  examples: {
    'berth daemon start': 'any other command does so in passing',
  },
  async run({ json }: Args, cli) {
    const already = await isRunning(cli);
    const berth = await cli.connect();
    const found = orRefused(await berth.call('get_daemon'));
    if (json) cli.printJson({ ...found, already_running: already });
    else cli.print(`${already ? 'already running' : 'started'} (pid ${found.pid}, ${found.socket})`);
    return exit.ok;
  },
};

async function isRunning(cli: Cli): Promise<boolean> {
  try {
    await refuseIdleService(cli.paths);
    await cli.connect({ autostart: false });
    return true;
  } catch (error) {
    if (error instanceof NoDaemon) return false;
    throw error;
  }
}
