import type { Berth } from '../client/connect.js';
import type { CommandInput } from '../protocol/commands.js';
import type { RuleRow } from '../protocol/permissions.js';
import { shortId, shortenHome } from './brief.js';
import { currentDirectory } from './directory.js';
import { exit, WrongUsage } from './exit.js';
import { describeRule } from './permission-words.js';
import { printableLine } from './printable.js';
import { orRefused } from './refusals.js';
import type { Cli, Subcommand } from './subcommand.js';

interface Args {
  tool?: string;
  allow?: true;
  ask?: true;
  deny?: true;
  command?: string;
  exact?: true;
  path?: string;
  pattern?: string;
  everyCall?: true;
  everywhere?: true;
  session?: string;
  network?: true;
  unsandboxed?: true;
  json?: true;
}

type Scope = Pick<CommandInput<'add_permission'>, 'scope' | 'session_id' | 'cwd'>;

export const permissionsAdd: Subcommand = {
  usage: 'permissions add [tool]',
  summary: 'Add a rule for this directory, for one session, or for all of them.',
  options: {
    '--allow': 'do it without asking (the default)',
    '--ask': 'ask a person, in every mode',
    '--deny': 'never do it',
    '--command <words>': 'commands that begin with these words; bash only',
    '--exact': 'with --command: these words and no more',
    '--path <path>': 'a file, all that is below a directory, or a glob; relative to the directory of the session',
    '--pattern <glob>': 'a glob over the text of a simple command, or over a path',
    '--every-call': 'whatever the tool is called with; bash and * are allowed as a whole only with this',
    '--everywhere': 'in every directory',
    '--session <session>': 'in one session only',
    '--network': 'allowed commands may use the network',
    '--unsandboxed': 'allowed commands run outside the sandbox',
    '--json': 'print the answer as JSON',
  },
  notes: [
    'TOOL is a tool, * for all of them, or else a command: what is no tool is a command that bash is to run.',
    '  berth permissions add "git status"                      the same as bash --command "git status"',
    '  berth permissions add --command "npm test" --network    with the network',
    '  berth permissions add write --path docs                 files below docs',
    "  berth permissions add --deny read --path '*.pem'        wherever they are",
    '  berth permissions add --ask --command "git push" --everywhere',
    'Each part of a command line is looked at by itself: git status; rm x is not allowed by a rule for git status.',
  ].join('\n'),
  async run(args: Args, cli) {
    const { everywhere, session, json } = args;
    const action = readAction(args);
    if (everywhere && session !== undefined) throw new WrongUsage('--everywhere and --session exclude each other');
    const given = [args.command, args.path, args.pattern, args.everyCall].filter((one) => one !== undefined).length;
    if (given > 1) throw new WrongUsage('a rule has one of --command, --path, --pattern and --every-call');
    if (args.tool === undefined && args.command === undefined)
      throw new WrongUsage('what is the rule about? see berth permissions add --help');
    if (action !== 'allow' && (args.network || args.unsandboxed)) throw new WrongUsage('--network and --unsandboxed go with --allow');
    const berth = await cli.connect();
    const rule = { ...(await readSubject(args, given > 0, berth)), action, ...readExtras(args) };
    refuseTooMuch(rule, args.everyCall === true);
    const scope = await readScope(args, cli, berth);
    const done = orRefused(await berth.call('add_permission', { ...scope, rule }));
    const id = await findId(berth, scope, rule);
    if (json) cli.printJson({ ...done, permission_id: id });
    else cli.print(`${describeRule(rule)}: ${describeScope(done)}${id === null ? '' : ` (berth permissions rm ${id} takes it back)`}`);
    return exit.ok;
  },
};

function readAction({ allow, ask, deny }: Args): RuleRow['action'] {
  if ([allow, ask, deny].filter((one) => one !== undefined).length > 1)
    throw new WrongUsage('--allow, --ask and --deny exclude each other');
  return deny ? 'deny' : ask ? 'ask' : 'allow';
}

async function readSubject(args: Args, isGiven: boolean, berth: Berth): Promise<Pick<RuleRow, 'tool' | 'command' | 'path' | 'pattern'>> {
  const { tool = 'bash', command, path, pattern } = args;
  if (isGiven) {
    return {
      tool,
      ...(command === undefined ? {} : { command }),
      ...(path === undefined ? {} : { path }),
      ...(pattern === undefined ? {} : { pattern }),
    };
  }
  return (await isTool(berth, tool)) ? { tool } : { tool: 'bash', command: tool };
}

async function isTool(berth: Berth, name: string): Promise<boolean> {
  if (name === '*') return true;
  if (/\s/.test(name)) return false;
  const { tools } = orRefused(await berth.call('list_tools'));
  return tools.some((tool) => tool.name === name);
}

function readExtras({ exact, network, unsandboxed }: Args): Pick<RuleRow, 'exact' | 'network' | 'unsandboxed'> {
  return { ...(exact && { exact }), ...(network && { network }), ...(unsandboxed && { unsandboxed }) };
}

/** All commands at once are not allowed by a slip. */
function refuseTooMuch({ tool, action, command, path, pattern }: RuleRow, isMeant: boolean): void {
  const isAll = action === 'allow' && (tool === 'bash' || tool === '*') && (command ?? path ?? pattern) === undefined;
  if (isAll && !isMeant) {
    throw new WrongUsage(
      `this would allow every ${tool === '*' ? 'call of every tool' : 'command'}; name a --command, or say --every-call`,
    );
  }
}

async function readScope({ everywhere, session }: Args, cli: Cli, berth: Berth): Promise<Scope> {
  if (everywhere) return { scope: 'everywhere' };
  if (session !== undefined) return { scope: 'session', session_id: await cli.resolve(berth, session) };
  return { scope: 'workspace', cwd: currentDirectory() };
}

function describeScope({ workspace, session_id }: { workspace: string | null; session_id: string | null }): string {
  if (session_id !== null) return `in session ${shortId(session_id)}`;
  return workspace === null ? 'everywhere' : `in ${printableLine(shortenHome(workspace))}`;
}

/** The newest rule that says this. */
async function findId(berth: Berth, { scope, ...place }: Scope, rule: RuleRow): Promise<string | null> {
  const listed = await berth.call('list_permissions', scope === 'everywhere' ? { cwd: currentDirectory() } : place);
  if (!listed.ok) return null;
  const said = describeRule(rule);
  const same = listed.payload.permissions.filter((one) => one.permission_id !== '' && describeRule(one.rule) === said);
  return same.toSorted((a, b) => Number(b.permission_id) - Number(a.permission_id))[0]?.permission_id ?? null;
}
