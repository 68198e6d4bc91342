import { resolve } from 'node:path';
import { printable } from '../../../view/printable.js';
import { formatBytes } from '../../byte-size.js';
import { exit } from '../../exit.js';
import { shortenHome } from '../../home-path.js';
import { orRefused } from '../../refusals.js';
import type { Subcommand } from '../../subcommand.js';

interface Args {
  file: string;
  force?: true;
  json?: true;
}

export const daemonBackup: Subcommand = {
  usage: 'daemon backup <file>',
  hosts: 'refused',
  summary: 'Copy the store to a file, while the daemon works.',
  options: {
    '--force': 'replace a file that is there',
    '--json': 'print the answer as JSON',
  },
  notes:
    'The copy is one file that only you may read: sessions, messages, queues, rules and the log. Long outputs of tools (artifacts/ in the state directory) are not in it, nor config and keys. To restore it, stop the daemon, remove berth.db-wal and berth.db-shm of the state directory, put the copy in the place of berth.db, and start the daemon; docs/operations.md shows how.',
  examples: {
    'berth daemon backup ~/backup/berth.db': 'a copy that is whole, whatever goes on meanwhile',
    'berth daemon backup --force ~/backup/berth.db': 'in the place of the last one',
  },
  async run({ file, force, json }: Args, cli) {
    const berth = await cli.connect({ autostart: false });
    const done = orRefused(await berth.call('back_up_store', { path: resolve(file), overwrite: force ?? false }));
    if (json) cli.printJson(done);
    else cli.print(`${printable(shortenHome(done.path))}: ${formatBytes(done.bytes)}`);
    return exit.ok;
  },
};
