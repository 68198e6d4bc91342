import { Command, CommanderError } from 'commander';
import { AttachRefused } from '../client/connect.js';
import { ConnectionLost, NoDaemon, StartFailed } from '../client/errors.js';
import { SubscribeRefused } from '../client/event-client.js';
import { resolvePaths, type PathFlags } from '../client/paths.js';
import { SessionUnclear } from '../client/resolve.js';
import { exit, Refused, WrongUsage, type ExitCode } from './exit.js';
import { printable } from './printable.js';
import { createCli, describeTo, type Subcommand } from './subcommand.js';
import { version } from './version.js';

/** Every subcommand, in the order of the help. Only the one that was asked for is loaded. */
const subcommands: Record<string, () => Promise<Subcommand>> = {
  new: async () => (await import('./new.js')).newSession,
  ls: async () => (await import('./ls.js')).ls,
  send: async () => (await import('./send.js')).send,
  attach: async () => (await import('./attach.js')).attach,
  log: async () => (await import('./log.js')).log,
  queue: async () => (await import('./queue.js')).queue,
  abort: async () => (await import('./abort.js')).abort,
  resume: async () => (await import('./resume.js')).resume,
  answer: async () => (await import('./answer.js')).answer,
  state: async () => (await import('./state.js')).state,
  rename: async () => (await import('./rename.js')).rename,
  archive: async () => (await import('./archive.js')).archive,
  rm: async () => (await import('./rm.js')).rm,
  branch: async () => (await import('./branch.js')).branch,
  tree: async () => (await import('./tree.js')).tree,
  'daemon run': async () => (await import('./daemon-run.js')).daemonRun,
  'daemon start': async () => (await import('./daemon-start.js')).daemonStart,
  'daemon stop': async () => (await import('./daemon-stop.js')).daemonStop,
  'daemon status': async () => (await import('./daemon-status.js')).daemonStatus,
};
const groups: Record<string, string> = { daemon: 'Run, start, stop and look at the daemon.' };
const refusals = [Refused, SessionUnclear, AttachRefused, SubscribeRefused];
const pathFlags = ['--socket', '--state-dir', '--config-dir'];

interface Chosen {
  subcommand: Subcommand;
  args: object;
}

/** The words of a command line that are not flags: its subcommand and what that is told. */
function wordsOf(argv: readonly string[]): string[] {
  const words: string[] = [];
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at] ?? '';
    if (word === '--') return [...words, ...argv.slice(at + 1)];
    if (pathFlags.includes(word)) at++;
    else if (!word.startsWith('-')) words.push(word);
  }
  return words;
}

function nameOf([first, second]: string[]): string {
  return first !== undefined && Object.hasOwn(groups, first) ? `${first} ${second ?? ''}` : (first ?? '');
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
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'berth: ')) })
    .addHelpText(
      'after',
      '\nA SESSION is named by a unique prefix of its id, by its title, or by . for the newest of this directory.\n' +
        'Exit codes: 0 done, 1 refused, 64 wrong usage, 69 no daemon, 70 a fault of berth.',
    )
    .exitOverride();
}

/** Tells commander of some subcommands and lets it read the command line. */
function parse(argv: string[], known: Subcommand[], bare: Subcommand | undefined): { chosen: Chosen | undefined; flags: PathFlags } {
  const program = createProgram();
  const made = new Map<string, Command>();
  let chosen: Chosen | undefined;
  for (const subcommand of known) {
    const names = subcommand.usage.split(/ (?=[<[])/)[0]?.split(' ') ?? [];
    let parent = program;
    for (const group of names.slice(0, -1)) {
      parent = made.get(group) ?? parent.command(group).description(groups[group] ?? '');
      made.set(group, parent);
    }
    const command = parent.command(names.at(-1) ?? '');
    describeTo(command, subcommand);
    command.action(() => {
      const named = command.registeredArguments.map((argument, at) => [argument.name(), command.processedArgs[at]] as const);
      chosen = { subcommand, args: { ...Object.fromEntries(named), ...command.opts() } };
    });
  }
  if (bare) program.action(() => void (chosen = { subcommand: bare, args: {} }));
  program.parse(argv, { from: 'user' });
  return { chosen, flags: program.opts<PathFlags>() };
}

async function choose(typed: string[]): Promise<{ chosen: Chosen | undefined; flags: PathFlags }> {
  const words = wordsOf(typed);
  const argv = words[0] === 'help' ? [...words.slice(1), '--help'] : typed;
  const load = subcommands[nameOf(words[0] === 'help' ? words.slice(1) : words)];
  if (load) return parse(argv, [await load()], undefined);
  const isBare = words.length === 0 && !argv.some((word) => /^(-h|--help)$/.test(word));
  if (isBare) return parse(argv, [], (await import('./bare.js')).bare);
  // Help, or a name that does not exist: commander wants to know them all.
  return parse(argv, await Promise.all(Object.values(subcommands).map((loadAny) => loadAny())), undefined);
}

/** What a failure means to whoever called: a sentence and an exit code. */
function toFailure(error: unknown): { code: ExitCode; sentence: string } {
  if (error instanceof CommanderError) return { code: error.exitCode === 0 ? exit.ok : exit.usage, sentence: '' };
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof WrongUsage) return { code: exit.usage, sentence: message };
  if (refusals.some((kind) => error instanceof kind)) return { code: exit.refused, sentence: message };
  if (error instanceof NoDaemon) return { code: exit.noDaemon, sentence: `${message}; start one with berth daemon start` };
  if (error instanceof StartFailed) return { code: exit.noDaemon, sentence: `the daemon could not be started: ${message}` };
  if (error instanceof ConnectionLost) return { code: exit.noDaemon, sentence: `${message}; see berth daemon status` };
  return { code: exit.internal, sentence: `something went wrong inside berth: ${message}` };
}

/** Says what went wrong. */
function tell(error: unknown): ExitCode {
  const { code, sentence } = toFailure(error);
  if (sentence === '') return code;
  process.stderr.on('error', () => undefined);
  process.stderr.write(`berth: ${printable(sentence)}\n`);
  return code;
}

/** Runs a command line. Never throws. */
async function main(argv: string[]): Promise<ExitCode> {
  // Whoever reads may have seen enough, or the terminal is gone: no reason to complain.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(isGone(error) ? exit.ok : exit.internal));
  process.once('uncaughtException', (error) => process.exit(tell(error)));
  let close: () => void = () => undefined;
  try {
    const { chosen, flags } = await choose(argv);
    if (!chosen) return exit.usage;
    const cli = createCli(resolvePaths(flags, process.env));
    close = cli.close;
    return await chosen.subcommand.run(chosen.args, cli);
  } catch (error) {
    return tell(error);
  } finally {
    close();
  }
}

function isGone(error: NodeJS.ErrnoException): boolean {
  return error.code === 'EPIPE' || error.code === 'EIO';
}

process.exitCode = await main(process.argv.slice(2));
