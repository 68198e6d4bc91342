import type { ReplyPayload } from '../../../protocol/commands/commands.js';
import type { PermissionView } from '../../../protocol/permissions.js';
import { modes } from '../../../view/modes.js';
import { printableLine } from '../../../view/printable.js';
import { shortId } from '../../../view/short-ids.js';
import { ruleSubject } from '../../../view/rule-text.js';
import { alignColumns, clipColumns } from '../../terminal/columns.js';
import { exit } from '../../exit.js';
import { shortenHome } from '../../home-path.js';
import { readScope } from './permission-scope.js';
import { orRefused } from '../../refusals.js';
import { outputColumns } from '../../terminal/standard-streams.js';
import type { Subcommand } from '../../subcommand.js';

interface Args {
  all?: true;
  session?: string;
  json?: true;
}

type Permissions = ReplyPayload<'list_permissions'>;

export const permissionsLs: Subcommand = {
  usage: 'permissions ls',
  alias: 'list',
  summary: 'Say what sessions of this directory may do: mode, sandbox and rules.',
  options: {
    '--all': 'every rule there is, also those of other directories and sessions',
    '--session <session>': 'what counts for this session',
    '--json': 'print everything as one line of JSON',
  },
  notes: [
    'A rule says allow, ask or deny; deny counts before ask, and ask before allow. Rules without an ID are in a file and are changed there.',
    'berth permissions add, rm and test add, remove and try them.',
  ].join('\n'),
  examples: {
    'berth permissions ls': 'what counts in this directory',
    'berth permissions ls --all': 'every rule there is',
  },
  async run({ all, session, json }: Args, cli) {
    const berth = await cli.connect();
    const scope = await readScope(cli, berth, session);
    const found = orRefused(await berth.call('list_permissions', { ...scope, all: all === true }));
    if (json) {
      cli.printJson(found);
      return exit.ok;
    }
    for (const line of alignColumns(describeSettings(found, session !== undefined))) cli.print(line);
    cli.print('');
    for (const line of toRuleTable(found.permissions)) cli.print(line);
    if (found.permissions.length === 0) cli.print('No rules yet. Add one with berth permissions add "git status".');
    for (const warning of found.warnings ?? []) cli.notice(printableLine(warning));
    if (found.has_more) cli.print('… and more; berth permissions ls without --all has those that count here.');
    return exit.ok;
  },
};

function describeSettings({ workspace, mode, no_sandbox, workspace_config: config }: Permissions, ofSession: boolean): string[][] {
  return [
    ['workspace', printableLine(shortenHome(workspace))],
    ['mode', `${mode}${ofSession ? '' : ', for new sessions'}: ${modes[mode]}`],
    ['sandbox', no_sandbox === null ? 'commands run in it' : `none: ${printableLine(no_sandbox)}`],
    ['own config', describeConfig(config)],
  ];
}

function describeConfig(config: Permissions['workspace_config']): string {
  if (!config) return 'none';
  const path = printableLine(shortenHome(config.path));
  if (config.problem !== null) return `${path} cannot be used: ${printableLine(config.problem)}`;
  if (config.trusted === true) return `${path}, trusted`;
  return `${path}, not trusted${config.trusted === null ? ' yet' : ''}, so it counts for nothing; see berth permissions trust`;
}

function toRuleTable(permissions: PermissionView[]): string[] {
  if (permissions.length === 0) return [];
  const rows = permissions.map(({ permission_id, source, workspace, session_id, rule }) => [
    permission_id === '' ? '-' : permission_id,
    rule.action,
    printableLine(rule.tool),
    describeSource(source, workspace, session_id),
    ruleSubject(rule),
  ]);
  return alignColumns([['ID', 'ACTION', 'TOOL', 'FROM', 'WHAT'], ...rows]).map((line) => clipColumns(line, outputColumns()));
}

function describeSource(source: string, workspace: string | null, sessionId: string | null): string {
  if (sessionId !== null) return `session ${shortId(sessionId)}`;
  return printableLine(shortenHome(workspace ?? source));
}
