import { printableLine } from '../../../view/printable.js';
import { exit, Refused } from '../../exit.js';
import { orRefused } from '../../refusals.js';
import type { Subcommand } from '../../subcommand.js';

interface Args {
  json?: true;
}

export const daemonReload: Subcommand = {
  usage: 'daemon reload',
  summary: 'Make the daemon read config.json again, and say what changed.',
  options: { '--json': 'print the answer as JSON' },
  notes:
    'The file is watched, so that a change counts without this, too; what is told is what changed since this was asked the last time.\n' +
    'A config that cannot be used is refused, and the one before it stays in force. Sessions keep what they were made with.',
  examples: {
    'berth daemon reload': 'what did the edit change?',
  },
  async run({ json }: Args, cli) {
    const berth = await cli.connect({ autostart: false });
    const done = orRefused(await berth.call('reload_config'));
    if (done.problem !== null) {
      throw new Refused(`${done.problem}; the config before it stays in force`, { code: 'config_refused' });
    }
    if (json) {
      cli.printJson(done);
      return exit.ok;
    }
    cli.print(done.changed.length === 0 ? 'nothing in config.json changed' : `changed: ${printableLine(done.changed.join(', '))}`);
    if (done.needs_restart.length > 0) cli.notice(`${printableLine(done.needs_restart.join(', '))} counts after berth daemon restart`);
    for (const warning of done.warnings) cli.notice(printableLine(warning));
    return exit.ok;
  },
};
