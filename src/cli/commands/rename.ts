import { printable } from '../../view/printable.js';
import { exit } from '../exit.js';
import { orRefused } from '../refusals.js';
import type { Subcommand } from '../subcommand.js';
import { readTitle, refuseIdAsTitle } from '../titles.js';

interface Args {
  session: string;
  title: string[];
  json?: true;
}

export const rename: Subcommand = {
  usage: 'rename <session> <title...>',
  summary: 'Give a session another title.',
  options: { '--json': 'print the answer as JSON' },
  examples: {
    'berth rename . fix the build': 'the newest session here',
  },
  async run({ session, title, json }: Args, cli) {
    const named = readTitle(title.join(' '));
    const berth = await cli.connect();
    const session_id = await cli.resolve(berth, session);
    await refuseIdAsTitle(berth, named, session_id);
    const done = orRefused(await berth.call('update_session', { session_id, title: named }));
    if (json) cli.printJson(done);
    else cli.print(named === '' ? `${session_id} has no title any more` : `${session_id} is now called ${printable(named)}`);
    return exit.ok;
  },
};
