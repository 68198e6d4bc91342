import { listSessions } from '../../client/resolve.js';
import { limits } from '../../protocol/limits.js';
import type { SessionListRow } from '../../protocol/views.js';
import { formatAge } from '../../view/durations.js';
import { printableLine } from '../../view/printable.js';
import { describeActivity, sessionTitle } from '../../view/session-list.js';
import { shortIds } from '../../view/short-ids.js';
import { alignColumns, clipColumns, columnsOf } from '../terminal/columns.js';
import { exit } from '../exit.js';
import { currentDirectory } from '../directory.js';
import { shortenHome } from '../home-path.js';
import { outputColumns } from '../terminal/standard-streams.js';
import { readCount, type Subcommand } from '../subcommand.js';

interface Args {
  all?: true;
  archived?: true;
  here?: true;
  limit?: string;
  json?: true;
}

const layout = {
  titleColumnsMax: 60,
  titleColumnsMin: 12,
  /** The column with the newest prompt is shown only if it has this width. */
  promptColumnsMin: 16,
  promptColumnsMax: 40,
} as const;

export const ls: Subcommand = {
  usage: 'ls',
  alias: 'list',
  summary: 'List sessions, newest first.',
  options: {
    '--all': 'archived ones too',
    '--archived': 'only archived ones',
    '--here': 'only those of this directory',
    '--limit <n>': `at most so many (default: ${limits.listedSessionsDefault})`,
    '--json': 'print one session a line as JSON',
  },
  async run({ all, archived, here, limit, json }: Args, cli) {
    const rowsMax = limit === undefined ? limits.listedSessionsDefault : readCount('--limit', limit, 1);
    const berth = await cli.connect();
    const fits = { ...(here ? { cwd: currentDirectory() } : {}), ...(rowsMax < limits.pageRowsMax ? { limit: rowsMax + 1 } : {}) };
    const [open, shut, asked] = await Promise.all([
      archived ? [] : listSessions(berth, fits),
      all || archived ? listSessions(berth, { ...fits, archived: true }) : [],
      berth.call('list_ui_requests'),
    ]);
    const found = [...open, ...shut].sort((a, b) => (a.updated_at < b.updated_at ? 1 : a.updated_at > b.updated_at ? -1 : 0));
    const rows = found.slice(0, rowsMax);
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
    const asking = new Set(asked.ok ? asked.payload.requests.map((request) => request.session_id) : []);
    for (const line of toSessionTable(rows, asking)) cli.print(line);
    if (found.length > rows.length) cli.print(`… and more; berth ls --limit ${rowsMax * 10} shows them.`);
    return exit.ok;
  },
};

function toSessionTable(rows: SessionListRow[], asking: ReadonlySet<string>): string[] {
  const ids = shortIds(rows.map((row) => row.session_id));
  const now = Date.now();
  const before = rows.map((row) => [
    ids.get(row.session_id) ?? '',
    describeActivity(row, asking.has(row.session_id)),
    formatAge(now - Date.parse(row.updated_at)),
    String(row.message_count),
  ]);
  const cwds = rows.map((row) => printableLine(shortenHome(row.cwd)));
  const [head = '', ...heads] = alignColumns([['ID', 'STATE', 'AGE', 'MSGS', ''], ...before.map((cells) => [...cells, ''])]);
  const room = outputColumns() - head.length - 2 - Math.max(...cwds.map(columnsOf));
  const titleMax = Math.max(layout.titleColumnsMin, Math.min(layout.titleColumnsMax, room));
  const titles = rows.map((row) => clipColumns(printableLine(sessionTitle(row)), titleMax));
  const named = alignColumns([['TITLE', 'DIRECTORY', ''], ...titles.map((title, at) => [title, cwds[at] ?? '', ''])]);
  const lines = [head, ...heads].map((line, at) => line + (named[at] ?? ''));
  const left = Math.min(layout.promptColumnsMax, outputColumns() - Math.max(...lines.map(columnsOf)));
  if (left < layout.promptColumnsMin) return lines.map((line) => line.trimEnd());
  const prompts = rows.map((row) => (row.last_user_message === sessionTitle(row) ? '' : row.last_user_message));
  return lines.map((line, at) => (line + (at === 0 ? 'LAST PROMPT' : clipColumns(printableLine(prompts[at - 1] ?? ''), left))).trimEnd());
}
