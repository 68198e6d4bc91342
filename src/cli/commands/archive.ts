import { shortId } from '../../view/short-ids.js';
import { exit } from '../exit.js';
import { orRefused } from '../refusals.js';
import type { Subcommand } from '../subcommand.js';

interface Args {
  session: string;
  undo?: true;
  json?: true;
}

export const archive: Subcommand = {
  usage: 'archive <session>',
  summary: 'Put a session out of sight, or back.',
  options: { '--undo': 'bring it back', '--json': 'print the answer as JSON' },
  examples: {
    'berth archive "fix the build"': 'berth ls does not list it any more',
    'berth archive "fix the build" --undo': 'bring it back',
  },
  async run({ session, undo, json }: Args, cli) {
    const berth = await cli.connect();
    const session_id = await cli.resolve(berth, session);
    const done = orRefused(await berth.call('archive_session', { session_id, archived: !undo }));
    if (json) cli.printJson(done);
    else if (undo) cli.print(`${session_id} is back`);
    else cli.print(`${session_id} is archived; berth ls --archived lists it, berth archive ${shortId(session_id)} --undo brings it back`);
    return exit.ok;
  },
};
