import { Command } from 'commander';
import type { PathFlags } from '../machine/paths.js';
import { toErrorLine, wantsJson } from './error-line.js';
import { WrongUsage } from './exit.js';
import { outputColumns, writeErr, writeOut } from './terminal/standard-streams.js';
import type { Subcommand } from './subcommand.js';
import { version } from '../client/version.js';
import { wrapText } from './terminal/word-wrap.js';

const layout = { helpColumnsMax: 100 } as const;

export interface CommandLine {
  subcommand: Subcommand | undefined;
  args: object;
  flags: PathFlags;
}

const groups: Record<string, string> = {
  permissions: 'Say what agents may do: list, add, remove and try rules, and see who decided what.',
  auth: 'Keep, list and remove the API keys of providers.',
  daemon: 'Run, start, stop and look at the daemon.',
};

/**
 * Parses a command line with commander; a subcommand without a name is the default. Help and usage errors are printed, and then thrown as
 * commander's own error.
 */
export function parseCommandLine(argv: string[], subcommands: Subcommand[]): CommandLine {
  const program = createProgram();
  const groupCommands = new Map<string, Command>();
  let chosen: Pick<CommandLine, 'subcommand' | 'args'> = { subcommand: undefined, args: {} };
  for (const subcommand of subcommands) {
    const names = subcommand.usage.split(' ').filter((word) => /^\w/.test(word));
    let parent = program;
    for (const group of names.slice(0, -1)) {
      parent =
        groupCommands.get(group) ??
        parent
          .command(group)
          .description(groups[group] ?? '')
          .helpCommand(false);
      groupCommands.set(group, parent);
    }
    const name = names.at(-1);
    const command = name === undefined ? program : parent.command(name);
    if (name !== undefined) describeTo(command, subcommand);
    if (subcommand.alias !== undefined) command.alias(subcommand.alias);
    const { unwanted, excess = unwanted } = subcommand;
    if (unwanted !== undefined) command.allowUnknownOption();
    if (excess !== undefined) command.allowExcessArguments();
    command.action(() => {
      if (excess !== undefined && command.args.length > command.registeredArguments.length) throw new WrongUsage(excess);
      const named = command.registeredArguments.map((argument, at) => [argument.name(), command.processedArgs[at]] as const);
      chosen = { subcommand, args: { ...Object.fromEntries(named), ...command.opts() } };
    });
  }
  program.parse(argv, { from: 'user' });
  return { ...chosen, flags: program.opts<PathFlags>() };
}

function createProgram(): Command {
  return new Command('berth')
    .description('Keeps coding agents running while you come and go. With no command: talk to the newest session of this directory.')
    .version(version, '-V, --version', 'say which version this is')
    .helpOption('-h, --help', 'say how this is used')
    .helpCommand(false)
    .option('--socket <path>', 'where the daemon listens (BERTH_SOCKET)')
    .option('--state-dir <path>', 'where its data and log are (BERTH_STATE_DIR)')
    .option('--config-dir <path>', 'where its config is (BERTH_CONFIG_DIR)')
    .configureHelp({ showGlobalOptions: true, subcommandTerm: toTerm, helpWidth: helpColumns() })
    .showHelpAfterError(wantsJson(process.argv) ? false : '(--help says how it is used)')
    .configureOutput({ writeOut, writeErr, outputError })
    .addHelpText(
      'after',
      wrapText(
        '\nA SESSION is named by a unique prefix of its id, by its title, or by . for the newest of this directory ' +
          '(or of the nearest one around it that has any, up to the root of the git repository).\n\n' +
          'Exit codes: 0 done, 1 refused, 64 wrong usage, 69 no daemon or none that answers, 70 a fault of berth. ' +
          'With --json an error is one line on standard error: {"error":{"code":"...","message":"..."}}; ' +
          'what is worth knowing beside is {"notice":{"message":"..."}}.',
        helpColumns(),
      ),
    )
    .exitOverride();
}

/** Prints a usage error of commander. */
function outputError(text: string, write: (text: string) => void): void {
  const sentence = text.replace(/^error: /, '');
  write(wantsJson(process.argv) ? toErrorLine('usage', sentence.trim()) : `berth: ${sentence}`);
}

/** The width of the terminal, up to a readable maximum. */
function helpColumns(): number {
  return Math.min(outputColumns(), layout.helpColumnsMax);
}

/** The term of a command in the help. */
function toTerm(command: Command): string {
  const args = command.registeredArguments.map((argument) => {
    const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
    return argument.required ? `<${name}>` : `[${name}]`;
  });
  return [[command.name(), ...command.aliases()].join('|'), ...args].join(' ');
}

/** Adds arguments, options and notes of a subcommand to a commander command. */
function describeTo(command: Command, { usage, summary, options = {}, notes }: Subcommand): void {
  command.description(summary);
  const args = /[<[].*$/.exec(usage)?.[0];
  if (args !== undefined) command.arguments(args);
  for (const [flags, text] of Object.entries(options)) command.option(flags, text);
  if (notes !== undefined) command.addHelpText('after', wrapText(`\n${notes}`, helpColumns()));
}
