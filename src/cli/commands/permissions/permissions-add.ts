import type { Berth } from '../../../client/connect.js';
import type { CommandInput } from '../../../protocol/commands/commands.js';
import type { RuleRow } from '../../../protocol/permissions.js';
import { printableLine } from '../../../view/printable.js';
import { shortId } from '../../../view/short-ids.js';
import { ruleSentence, ruleText } from '../../../view/rule-text.js';
import { directoryHere, newSessionDirectory } from '../../directory.js';
import { exit, Refused, WrongUsage } from '../../exit.js';
import { shortenHome } from '../../home-path.js';
import { orRefused } from '../../refusals.js';
import type { Cli, Subcommand } from '../../subcommand.js';

interface Args {
  words?: string;
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
  usage: 'permissions add [words]',
  summary: 'Add a rule for this directory, for one session, or for all of them.',
  options: {
    '--allow': 'do it without asking (the default)',
    '--ask': 'ask a person, in every mode',
    '--deny': 'never do it',
    '--command <words>': 'commands that begin with these words; the same as WORDS alone',
    '--exact': 'these words and no more',
    '--tool <tool>': "a tool of berth's own instead of a command, or * for all of them",
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
    'WORDS are those that a command begins with. A rule about a tool names it with --tool, also where a command has the same name.',
    'Each part of a command line is looked at by itself: git status; rm x is not allowed by a rule for git status.',
  ].join('\n'),
  examples: {
    'berth permissions add "git status"': 'commands that begin with git status',
    'berth permissions add ls': 'the command ls, not the tool',
    'berth permissions add "npm test" --network': 'with the network',
    'berth permissions add --tool write --path docs': 'files below docs',
    "berth permissions add --deny --tool read --path '*.pem'": 'wherever they are',
    'berth permissions add --ask "git push" --everywhere': 'always ask, in every directory',
  },
  async run(args: Args, cli) {
    const { everywhere, session, json } = args;
    const action = readAction(args);
    if (everywhere && session !== undefined) throw new WrongUsage('--everywhere and --session exclude each other');
    const subjects = [args.command, args.path, args.pattern, args.everyCall].filter((one) => one !== undefined).length;
    if (subjects > 1) throw new WrongUsage('a rule has one of --command, --path, --pattern and --every-call');
    if (args.words === undefined && args.tool === undefined && args.command === undefined)
      throw new WrongUsage('a rule needs a command or a tool; see berth permissions add --help');
    if (action !== 'allow' && (args.network || args.unsandboxed)) throw new WrongUsage('--network and --unsandboxed go with --allow');
    const berth = await cli.connect();
    const rule = { ...(await readSubject(args, subjects > 0, berth)), action, ...readExtras(args) };
    refuseAllowAll(rule, args.everyCall === true);
    const scope = await readScope(args, cli, berth);
    const done = orRefused(await berth.call('add_permission', { ...scope, rule }));
    const id = await findId(berth, scope, rule);
    if (json) cli.printJson({ ...done, permission_id: id });
    else cli.print(`${ruleSentence(rule)}, ${describeScope(done)}${id === null ? '' : ` (berth permissions rm ${id} takes it back)`}`);
    const { words } = args;
    if (words !== undefined && rule.command === words && (await listTools(berth)).includes(words)) {
      cli.printError(`berth: this is about the command ${words}; the tool of that name is meant with --tool ${words}`);
    }
    return exit.ok;
  },
};

function readAction({ allow, ask, deny }: Args): RuleRow['action'] {
  if ([allow, ask, deny].filter((one) => one !== undefined).length > 1)
    throw new WrongUsage('--allow, --ask and --deny exclude each other');
  return deny ? 'deny' : ask ? 'ask' : 'allow';
}

async function readSubject(args: Args, isGiven: boolean, berth: Berth): Promise<Pick<RuleRow, 'tool' | 'command' | 'path' | 'pattern'>> {
  const { words, command, path, pattern } = args;
  if (words !== undefined && !isGiven) return { tool: 'bash', command: readCommand(words, args.tool) };
  if (words !== undefined && args.tool !== undefined) throw new WrongUsage(`the tool is named twice: ${words} and ${args.tool}`);
  const tool = args.tool ?? words ?? 'bash';
  await refuseUnknown(tool, berth);
  return {
    tool,
    ...(command === undefined ? {} : { command }),
    ...(path === undefined ? {} : { path }),
    ...(pattern === undefined ? {} : { pattern }),
  };
}

/** Words are a command. `bash` and `*` are ambiguous, as they may mean every call, and are refused. */
function readCommand(words: string, tool: string | undefined): string {
  if (tool !== undefined && tool !== 'bash') throw new WrongUsage(`${tool} runs no commands; say --path, --pattern or --every-call`);
  if (tool === undefined && (words === 'bash' || words === '*')) {
    throw new WrongUsage(`say --tool '${words}' for every call, or --command '${words}' for the command`);
  }
  return words;
}

async function refuseUnknown(tool: string, berth: Berth): Promise<void> {
  if (tool === '*' || tool === 'bash') return;
  const names = await listTools(berth);
  if (!names.includes(tool)) throw new Refused(`there is no tool ${JSON.stringify(tool)}; there are ${names.join(', ')}`);
}

async function listTools(berth: Berth): Promise<string[]> {
  const { tools } = orRefused(await berth.call('list_tools'));
  return tools.map(({ name }) => name);
}

function readExtras({ exact, network, unsandboxed }: Args): Pick<RuleRow, 'exact' | 'network' | 'unsandboxed'> {
  return { ...(exact && { exact }), ...(network && { network }), ...(unsandboxed && { unsandboxed }) };
}

/** Refuses a rule that allows every command, unless --every-call says so. */
function refuseAllowAll({ tool, action, command, path, pattern }: RuleRow, isMeant: boolean): void {
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
  return { scope: 'workspace', cwd: directoryHere(berth) };
}

function describeScope({ workspace, session_id }: { workspace: string | null; session_id: string | null }): string {
  if (session_id !== null) return `in session ${shortId(session_id)}`;
  return workspace === null ? 'everywhere' : `in ${printableLine(shortenHome(workspace))}`;
}

/** The id of the newest rule that equals this one. */
async function findId(berth: Berth, { scope, ...target }: Scope, rule: RuleRow): Promise<string | null> {
  const listed = await berth.call('list_permissions', scope === 'everywhere' ? { cwd: newSessionDirectory(berth) } : target);
  if (!listed.ok) return null;
  const text = ruleText(rule);
  const same = listed.payload.permissions.filter((one) => one.permission_id !== '' && ruleText(one.rule) === text);
  return same.toSorted((a, b) => Number(b.permission_id) - Number(a.permission_id))[0]?.permission_id ?? null;
}
