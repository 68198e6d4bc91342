import { limits } from '../../protocol/limits.js';
import { formatAge } from '../../view/durations.js';
import { directoryHere } from '../directory.js';
import { exit, WrongUsage } from '../exit.js';
import { readSessions } from '../sessions/session-rows.js';
import { toSessionTable } from '../sessions/session-table.js';
import { readCount, type Subcommand } from '../subcommand.js';
import { isDumb, isPersonThere, isTerminal, outputColumns } from '../terminal/standard-streams.js';

interface Args {
  all?: true;
  archived?: true;
  here?: true;
  allHosts?: true;
  limit?: string;
  watch?: true;
  json?: true;
}

export const ls: Subcommand = {
  usage: 'ls',
  alias: 'list',
  summary: 'List sessions, newest first.',
  options: {
    '--all': 'archived ones too',
    '--archived': 'only archived ones',
    '--here': 'only those of this directory',
    '--all-hosts': 'those of this machine and of all hosts of config.json',
    '--limit <n>': `at most so many (default: ${limits.listedSessionsDefault})`,
    '--watch': 'keep the list on the screen up to date; with --json, print a line for each change',
    '--json': 'print one session a line as JSON',
  },
  notes:
    'On the screen, ? marks a session that asks you, ● one that is running and ✗ one whose last run failed or was interrupted.\n' +
    'With --watch --json, a line has the fields of the session, asks, and change: added, changed or removed.\n' +
    'With --all-hosts, all machines are asked at once, no daemon is started, and one that is away is a line; in JSON, a line has host,\n' +
    'which is null for this machine, and for one that is away it has error.',
  examples: {
    'berth ls --here': 'the sessions of this directory',
    'berth ls --watch': 'which of them needs me',
    'berth ls --all-hosts': 'the sessions of all my machines',
    "berth ls --watch --json | jq -r 'select(.asks).title'": 'titles of sessions that ask, as they do',
  },
  async run({ all, archived, here, allHosts, limit, watch, json }: Args, cli) {
    const rowsMax = limit === undefined ? limits.listedSessionsDefault : readCount('--limit', limit, 1);
    const isScreen = isTerminal() && isPersonThere() && !isDumb();
    if (watch && !json && !isScreen)
      throw new WrongUsage('--watch draws on a terminal; here, use --watch --json, which prints a line for each change');
    if (allHosts && (here || watch)) throw new WrongUsage('--all-hosts goes with neither --here nor --watch');
    const which = { archived: archived ? ('only' as const) : all ? ('too' as const) : undefined, rowsMax };
    if (allHosts) {
      const { listAllHosts } = await import('../remote/all-hosts.js');
      return listAllHosts(cli, which, json);
    }
    const berth = await cli.connect();
    const filter = { ...which, ...(here ? { cwd: directoryHere(berth) } : {}) };
    if (watch) {
      const { watchAsJson, watchOnScreen } = await import('../sessions/watch-list.js');
      return json ? watchAsJson(berth, filter, cli.notice) : watchOnScreen(berth, filter);
    }
    const { rows, asking, hasMore } = await readSessions(berth, filter);
    if (json) {
      for (const row of rows) cli.printJson(row);
      return exit.ok;
    }
    if (rows.length === 0) {
      cli.print(
        `No sessions${here ? ' of this directory' : archived ? ' are archived' : ''} yet. Make one with berth new, or just berth send "text".`,
      );
      return exit.ok;
    }
    const now = Date.now();
    const time = { head: 'AGE', of: (updatedMs: number) => formatAge(now - updatedMs) };
    for (const line of toSessionTable(rows, { asking, columns: outputColumns(), time })) cli.print(line);
    if (hasMore) cli.print(`… and more; berth ls --limit ${rowsMax * 10} shows them.`);
    return exit.ok;
  },
};
