import { printable } from '../../view/printable.js';
import { confirm } from '../terminal/confirm.js';
import { exit, Refused } from '../exit.js';
import { orRefused } from '../refusals.js';
import type { Subcommand } from '../subcommand.js';

interface Args {
  session: string;
  yes?: true;
  json?: true;
}

export const rm: Subcommand = {
  usage: 'rm <session>',
  summary: 'Delete a session for good.',
  options: { '-y, --yes': 'do not ask', '--json': 'print the answer as JSON' },
  examples: {
    'berth rm "fix the build"': 'after asking you',
    'berth rm 06f2k9w3ma --yes': 'in a script',
  },
  async run({ session, yes, json }: Args, cli) {
    const berth = await cli.connect();
    const session_id = await cli.resolve(berth, session);
    if (!yes) {
      const { title } = orRefused(await berth.call('get_state', { session_id }));
      const named = title === '' ? session_id : `${session_id} (${printable(title)})`;
      if (!process.stdin.isTTY) throw new Refused(`${named} would be deleted for good; say so with --yes`);
      if (!(await confirm(`Delete ${named} for good? [y/N] `))) throw new Refused('nothing was deleted');
    }
    const done = orRefused(await berth.call('delete_session', { session_id }));
    if (json) cli.printJson(done);
    else cli.print(`deleted ${session_id}`);
    return exit.ok;
  },
};
