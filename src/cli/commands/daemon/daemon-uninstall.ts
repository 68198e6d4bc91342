import { readInstalledUnit, removeUnit, unitDir, unitNames } from '../../../machine/systemd/installed-units.js';
import { serviceUnit, socketUnits } from '../../../machine/systemd/user-manager.js';
import { printable } from '../../../view/printable.js';
import { exit } from '../../exit.js';
import { shortenHome } from '../../home-path.js';
import type { Subcommand } from '../../subcommand.js';
import { refuseForeignUnits, refuseWithoutManager, systemctlOrRefused } from './daemon-install.js';

interface Args {
  json?: true;
}

export const daemonUninstall: Subcommand = {
  usage: 'daemon uninstall',
  hosts: 'refused',
  summary: 'Stop the systemd service and remove its units. Data, config and keys stay.',
  options: { '--json': 'print what was done as JSON' },
  notes: 'Runs in progress are interrupted, and berth resume goes on with them. Any berth command starts a daemon in the background again.',
  examples: {
    'berth daemon uninstall': 'back to a daemon that is started in passing',
  },
  async run({ json }: Args, cli) {
    const dir = unitDir(process.env);
    const found = unitNames.filter((name) => readInstalledUnit(dir, name) !== undefined);
    if (found.length > 0) {
      await refuseWithoutManager();
      refuseForeignUnits(dir);
      await systemctlOrRefused('disable', '--now', ...socketUnits, serviceUnit);
      for (const name of found) removeUnit(dir, name);
      await systemctlOrRefused('daemon-reload');
    }
    if (json) cli.printJson({ uninstalled: found.length > 0, units: found });
    else if (found.length === 0) cli.print('no service is installed');
    else cli.print(`removed ${found.join(', ')}; data stays in ${printable(shortenHome(cli.paths.stateDir))}`);
    return exit.ok;
  },
};
