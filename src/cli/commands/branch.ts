import type { Berth } from '../../client/connect.js';
import { matchIds } from '../../view/short-ids.js';
import { exit, Refused } from '../exit.js';
import { orRefused } from '../refusals.js';
import type { Subcommand } from '../subcommand.js';

interface Args {
  session: string;
  at?: string;
  json?: true;
}

export const branch: Subcommand = {
  usage: 'branch <session>',
  summary: 'Make a new session that shares the history of another, and print its id.',
  options: { '--at <message>': 'up to this message, by a prefix of its id (default: all of it)', '--json': 'print the answer as JSON' },
  notes: 'berth tree SESSION shows the messages and their ids.',
  examples: {
    'berth branch .': 'go on in two directions',
    'berth branch . --at 06f2k9w3ma': 'from an earlier message on',
  },
  async run({ session, at, json }: Args, cli) {
    const berth = await cli.connect();
    const session_id = await cli.resolve(berth, session);
    const leaf = at === undefined ? {} : { leaf_id: await resolveMessage(berth, session_id, at) };
    const made = orRefused(await berth.call('branch_session', { session_id, ...leaf }));
    if (json) cli.printJson(made);
    else cli.print(made.session_id);
    return exit.ok;
  },
};

async function resolveMessage(berth: Berth, session_id: string, typed: string): Promise<string> {
  const { nodes } = orRefused(await berth.call('get_tree', { session_id }));
  const matches = matchIds(
    nodes.map(({ id }) => id),
    typed,
  );
  if (matches.length > 1) throw new Refused(`${typed} could be ${matches.length} messages; type more of the id`);
  // The tree may be truncated: the daemon resolves the id.
  return matches[0] ?? typed;
}
