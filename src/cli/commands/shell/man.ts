import { version } from '../../../client/version.js';
import { exit } from '../../exit.js';
import { toManPage } from '../../help/man-page.js';
import type { Subcommand } from '../../subcommand.js';
import { isTerminal, writeOut } from '../../terminal/standard-streams.js';

export const man: Subcommand = {
  usage: 'man',
  hosts: 'ignored',
  summary: 'Print a man page of all of this, in roff.',
  examples: {
    'berth man | man -l -': 'read it',
    'berth man > ~/.local/share/man/man1/berth.1': 'let man berth find it',
  },
  async run(_args: object, cli) {
    writeOut(toManPage(await cli.subcommands(), version));
    if (isTerminal()) cli.notice('this is the source of the man page; berth man | man -l - shows it');
    return exit.ok;
  },
};
