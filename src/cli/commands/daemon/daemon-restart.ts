import { checkStartable } from '../../../client/autostart.js';
import { NoDaemon, StartFailed } from '../../../client/errors.js';
import { stopOrderly, printInterrupted, type StoppedDaemon } from './daemon-stop.js';
import { exit, Refused } from '../../exit.js';
import { orRefused } from '../../refusals.js';
import type { Cli, Subcommand } from '../../subcommand.js';
import { refuseIdleService } from './idle-service.js';

interface Args {
  drain?: true;
  json?: true;
}

export const daemonRestart: Subcommand = {
  usage: 'daemon restart',
  hosts: 'refused',
  summary: 'Stop the daemon, and start it again: as this version of berth, with the config as it is now.',
  options: {
    '--drain': 'first let runs in progress come to their end; no new ones begin',
    '--json': 'print what is known of the new one as JSON',
  },
  notes: 'Clients that are attached come back by themselves. A service is restarted by systemd, and clients that connect meanwhile wait.',
  examples: {
    'berth daemon restart --drain': 'after an upgrade',
  },
  async run({ drain, json }: Args, cli) {
    const stopped = await stopIfRunning(cli, drain === true);
    const berth = await cli.connect();
    const found = orRefused(await berth.call('get_daemon'));
    if (json) {
      cli.printJson({ ...found, runs_interrupted: stopped?.interrupted ?? [] });
      return exit.ok;
    }
    cli.print(`${stopped ? `restarted (pid ${stopped.pid} before, ` : 'started ('}pid ${found.pid}, ${found.socket})`);
    printInterrupted(cli, stopped?.interrupted ?? []);
    return exit.ok;
  },
};

async function stopIfRunning(cli: Cli, drain: boolean): Promise<StoppedDaemon | undefined> {
  try {
    await refuseIdleService(cli.paths);
    (await cli.connect({ autostart: false })).close();
    await refuseUnstartable(cli);
    return await stopOrderly(cli, drain, 'restart');
  } catch (error) {
    if (error instanceof NoDaemon) return undefined;
    throw error;
  }
}

/** Refuses to stop the running daemon when a new one could not start. */
async function refuseUnstartable({ paths }: Cli): Promise<void> {
  try {
    await checkStartable(paths);
  } catch (error) {
    if (!(error instanceof StartFailed)) throw error;
    throw new Refused(`not restarted, because a new daemon could not start: ${error.message}; the one that runs goes on`, {
      code: error.code,
      cause: error,
    });
  }
}
