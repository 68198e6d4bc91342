import type { ReplyPayload } from '../../../protocol/commands/commands.js';
import { limits } from '../../../protocol/limits.js';
import type { AuditView } from '../../../protocol/permissions.js';
import { printableLine } from '../../../view/printable.js';
import { shortId } from '../../../view/short-ids.js';
import { alignColumns, clipColumns } from '../../terminal/columns.js';
import { exit } from '../../exit.js';
import { orRefused } from '../../refusals.js';
import { readCount, type Subcommand } from '../../subcommand.js';

interface Args {
  session?: string;
  limit?: string;
  json?: true;
}

const layout = {
  subjectColumnsMax: 60,
  whyColumnsMax: 120,
} as const;

export const permissionsLog: Subcommand = {
  usage: 'permissions log',
  summary: 'Say who decided what about calls, newest first.',
  options: {
    '--session <session>': 'only of this session; . is the newest of this directory',
    '--limit <n>': `at most so many (default: ${limits.listedDecisionsDefault})`,
    '--json': 'print one decision a line as JSON',
  },
  notes: 'BY is policy where a rule or the mode decided, and else the client through which a person did.',
  examples: {
    'berth permissions log --session .': 'of the newest session here',
  },
  async run({ session, limit, json }: Args, cli) {
    const rowsMax = limit === undefined ? limits.listedDecisionsDefault : readCount('--limit', limit, 1);
    const berth = await cli.connect();
    const inSession = session === undefined ? {} : { session_id: await cli.resolve(berth, session) };
    const rows: AuditView[] = [];
    let cursor: string | null = null;
    do {
      const page: ReplyPayload<'list_decisions'> = orRefused(
        await berth.call('list_decisions', {
          ...inSession,
          limit: Math.min(rowsMax - rows.length, limits.pageRowsMax),
          ...(cursor === null ? {} : { cursor }),
        }),
      );
      rows.push(...page.decisions);
      cursor = page.cursor;
    } while (cursor !== null && rows.length < rowsMax);
    if (json) for (const row of rows) cli.printJson(row);
    else for (const line of toDecisionTable(rows)) cli.print(line);
    if (rows.length === 0 && !json) cli.print('Nothing was decided yet.');
    if (cursor !== null && !json) cli.print(`… and more; berth permissions log --limit ${rowsMax * 10} shows them.`);
    return exit.ok;
  },
};

function toDecisionTable(rows: AuditView[]): string[] {
  if (rows.length === 0) return [];
  const cells = rows.map(({ at, action, by, tool_name, session_id, subject, why }) => [
    toLocalTime(at),
    shortId(session_id),
    printableLine(action),
    printableLine(by),
    printableLine(tool_name),
    clipColumns(printableLine(subject), layout.subjectColumnsMax),
    clipColumns(printableLine(why), layout.whyColumnsMax),
  ]);
  return alignColumns([['TIME', 'SESSION', 'DECIDED', 'BY', 'TOOL', 'CALL', 'WHY'], ...cells]);
}

function toLocalTime(at: string): string {
  const time = new Date(at);
  if (Number.isNaN(time.getTime())) return printableLine(at);
  const two = (count: number): string => String(count).padStart(2, '0');
  const day = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return `${day} ${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`;
}
