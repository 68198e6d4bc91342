import { Command } from 'commander';
import { toErrorLine, wantsJson } from './error-line.js';
import { WrongUsage } from './exit.js';
import {
  exitHelp,
  globalOptions,
  groupSummaries,
  helpOption,
  notesOf,
  programSummary,
  sessionHelp,
  versionOption,
} from './help/help-text.js';
import { outputColumns, writeErr, writeOut } from './terminal/standard-streams.js';
import type { GlobalFlags, Subcommand } from './subcommand.js';
import { version } from '../client/version.js';
import { wrapText } from './terminal/word-wrap.js';

const layout = { helpColumnsMax: 100 } as const;

export interface CommandLine {
  subcommand: Subcommand | undefined;
  args: object;
  flags: GlobalFlags;
}

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
          .description(groupSummaries[group] ?? '')
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
  return { ...chosen, flags: program.opts<GlobalFlags>() };
}

function createProgram(): Command {
  const program = new Command('berth')
    .description(programSummary)
    .version(version, ...versionOption)
    .helpOption(...helpOption)
    .helpCommand(false)
    .configureHelp({ showGlobalOptions: true, subcommandTerm: toTerm, helpWidth: helpColumns() })
    .showHelpAfterError(wantsJson(process.argv) ? false : '(--help says how it is used)')
    .configureOutput({ writeOut, writeErr, outputError })
    .addHelpText('after', wrapText(`\n${sessionHelp}\n\n${exitHelp}`, helpColumns()))
    .exitOverride();
  for (const [flags, text] of Object.entries(globalOptions)) program.option(flags, text);
  return program;
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
function describeTo(command: Command, subcommand: Subcommand): void {
  const { usage, summary, options = {} } = subcommand;
  command.description(summary);
  const args = /[<[].*$/.exec(usage)?.[0];
  if (args !== undefined) command.arguments(args);
  for (const [flags, text] of Object.entries(options)) command.option(flags, text);
  const notes = notesOf(subcommand);
  if (notes !== '') command.addHelpText('after', wrapText(`\n${notes}`, helpColumns()));
}
