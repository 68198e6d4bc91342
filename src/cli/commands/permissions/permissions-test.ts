import type { ReplyPayload } from '../../../protocol/commands/commands.js';
import { printable, printableLine } from '../../../view/printable.js';
import { ruleText } from '../../../view/rule-text.js';
import { alignColumns } from '../../terminal/columns.js';
import { exit, WrongUsage, type ExitCode } from '../../exit.js';
import { shortenHome } from '../../home-path.js';
import { readScope } from './permission-scope.js';
import { readMode } from '../../read-settings.js';
import { orRefused } from '../../refusals.js';
import { isColoured } from '../../terminal/standard-streams.js';
import { readStdin } from '../../terminal/stdin.js';
import { createStyle, type Style } from '../../terminal/style.js';
import type { Subcommand } from '../../subcommand.js';

interface Args {
  command?: string[];
  path?: string;
  tool?: string;
  mode?: string;
  network?: true;
  unsandboxed?: true;
  session?: string;
  json?: true;
}

type Test = ReplyPayload<'get_ruling'>;
type Action = Test['action'];

const exitCodes: Record<Action, ExitCode> = { allow: exit.ok, ask: exit.asked, deny: exit.denied };
const verdicts: Record<Action, string> = { allow: 'allowed', ask: 'asked', deny: 'denied' };

export const permissionsTest: Subcommand = {
  usage: 'permissions test [command...]',
  summary: 'Say what would become of a command, part by part, and why. Nothing is run.',
  options: {
    '--path <path>': 'a path instead of a command',
    '--tool <tool>': 'the tool that would touch it (default: write for a path, bash for a command)',
    '--mode <mode>': 'as if this were the mode of the session',
    '--network': 'as if the network were asked for',
    '--unsandboxed': 'as if it were to run outside the sandbox',
    '--session <session>': 'with the rules and the mode of this session, in its directory',
    '--json': 'print the answer as JSON',
  },
  notes: [
    'The command is one argument: put it in quotes. A command of - is read from standard input.',
    'Exit codes: 0 allowed, 3 a person is asked, 4 denied; 1 and above 63 as everywhere: it could not be found out.',
  ].join('\n'),
  examples: {
    'berth permissions test "git status && rm -rf build"': 'part by part',
    'berth permissions test --mode auto_edit "npm test"': 'as if that were the mode',
    'berth permissions test --path .git/hooks/pre-commit --tool write': 'a file that runs later',
  },
  async run({ command: words = [], path, tool, mode: named, network, unsandboxed, session, json }: Args, cli) {
    if (words.length > 1) throw new WrongUsage('put the command in quotes: berth permissions test "git status"');
    if ((words.length === 0) === (path === undefined))
      throw new WrongUsage('give either a command or --path; see berth permissions test --help');
    const mode = named === undefined ? undefined : readMode(named);
    const command = words[0] === '-' ? (await readStdin(cli.notice)).replace(/\n$/, '') : words[0];
    const berth = await cli.connect();
    const found = orRefused(
      await berth.call('get_ruling', {
        ...(await readScope(cli, berth, session)),
        tool: tool ?? (path === undefined ? 'bash' : 'write'),
        ...(path === undefined ? { command: command ?? '' } : { path }),
        ...(mode === undefined ? {} : { mode }),
        network: network === true,
        unsandboxed: unsandboxed === true,
      }),
    );
    if (json) cli.printJson(found);
    else for (const line of describeTest(found, path === undefined, createStyle(isColoured()))) cli.print(line);
    return exitCodes[found.action];
  },
};

function describeTest(found: Test, isCommand: boolean, style: Style): string[] {
  const { action, why, parts, sandboxed, network, notes, rules, mode, workspace } = found;
  const net = network ? 'with the network' : 'without the network';
  const cells = alignColumns(parts.map((part) => [verdicts[part.action], printableLine(part.text), printableLine(part.why)]));
  return [
    paint(action, `${verdicts[action]}: ${printableLine(why)}`, style),
    ...cells.map((line, at) => `  ${paint(parts[at]?.action ?? action, line, style)}`),
    ...notes.map((note) => printable(note)),
    ...(isCommand && action !== 'deny'
      ? [`${action === 'ask' ? 'Once allowed, it' : 'It'} would run ${sandboxed ? 'in a sandbox' : 'without a sandbox'}, ${net}.`]
      : []),
    ...(action === 'ask' ? describeRemembered(rules) : []),
    style.dim(`mode ${mode}, in ${printableLine(shortenHome(workspace))}`),
  ];
}

function describeRemembered(rules: Test['rules']): string[] {
  if (rules.length === 0) return ['It can be allowed once only.'];
  return ['“Always” would add:', ...rules.map((rule) => `  ${ruleText(rule)}`)];
}

function paint(action: Action, line: string, style: Style): string {
  if (action === 'allow') return style.green(line);
  return action === 'deny' ? style.red(line) : style.bold(line);
}
