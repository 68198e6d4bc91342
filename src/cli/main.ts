import type { CommanderError } from 'commander';
import { AuthFileRefused } from '../machine/auth-file.js';
import { AttachRefused } from '../client/connect.js';
import { ConnectionLost, DaemonUnresponsive, HostUnreachable, NoDaemon, OtherDaemon, StartFailed } from '../client/errors.js';
import { SubscribeRefused } from '../client/event-client.js';
import { HomeUnknown, resolvePaths } from '../machine/paths.js';
import { SessionUnclear } from '../client/resolve.js';
import { printable } from '../view/printable.js';
import { toErrorLine, wantsJson } from './error-line.js';
import { exit, Refused, WrongUsage, type ExitCode } from './exit.js';
import type { CommandLine } from './parse.js';
import { writeErr } from './terminal/standard-streams.js';
import { createCli, type GlobalFlags, type Subcommand } from './subcommand.js';

/** Every subcommand, in the order of the help, imported lazily. */
const subcommands: Record<string, () => Promise<Subcommand>> = {
  new: async () => (await import('./commands/new.js')).newSession,
  ls: async () => (await import('./commands/ls.js')).ls,
  run: async () => (await import('./commands/scripting/run.js')).run,
  wait: async () => (await import('./commands/scripting/wait.js')).wait,
  follow: async () => (await import('./commands/scripting/follow.js')).follow,
  send: async () => (await import('./commands/send.js')).send,
  draft: async () => (await import('./commands/scripting/draft.js')).draft,
  attach: async () => (await import('./commands/attach.js')).attach,
  log: async () => (await import('./commands/log.js')).log,
  export: async () => (await import('./commands/transfer/export.js')).exportCommand,
  replay: async () => (await import('./commands/scripting/replay.js')).replay,
  queue: async () => (await import('./commands/queue.js')).queue,
  abort: async () => (await import('./commands/abort.js')).abort,
  resume: async () => (await import('./commands/resume.js')).resume,
  answer: async () => (await import('./commands/answer.js')).answer,
  state: async () => (await import('./commands/state.js')).state,
  rename: async () => (await import('./commands/rename.js')).rename,
  archive: async () => (await import('./commands/archive.js')).archive,
  rm: async () => (await import('./commands/rm.js')).rm,
  branch: async () => (await import('./commands/branch.js')).branch,
  tree: async () => (await import('./commands/tree.js')).tree,
  compact: async () => (await import('./commands/compact.js')).compact,
  model: async () => (await import('./commands/model.js')).model,
  models: async () => (await import('./commands/models.js')).models,
  mode: async () => (await import('./commands/mode.js')).mode,
  doctor: async () => (await import('./commands/doctor/doctor.js')).doctor,
  artifact: async () => (await import('./commands/artifact.js')).artifact,
  completion: async () => (await import('./commands/shell/completion.js')).completion,
  man: async () => (await import('./commands/shell/man.js')).man,
  relay: async () => (await import('./commands/remote/relay.js')).relay,
  reset: async () => (await import('./commands/shell/reset.js')).reset,
  'permissions ls': async () => (await import('./commands/permissions/permissions-ls.js')).permissionsLs,
  'permissions add': async () => (await import('./commands/permissions/permissions-add.js')).permissionsAdd,
  'permissions rm': async () => (await import('./commands/permissions/permissions-rm.js')).permissionsRm,
  'permissions test': async () => (await import('./commands/permissions/permissions-test.js')).permissionsTest,
  'permissions log': async () => (await import('./commands/permissions/permissions-log.js')).permissionsLog,
  'permissions trust': async () => (await import('./commands/permissions/permissions-trust.js')).permissionsTrust,
  'permissions distrust': async () => (await import('./commands/permissions/permissions-trust.js')).permissionsDistrust,
  'auth set': async () => (await import('./commands/auth/auth-set.js')).authSet,
  'auth list': async () => (await import('./commands/auth/auth-list.js')).authList,
  'auth rm': async () => (await import('./commands/auth/auth-rm.js')).authRm,
  'config get': async () => (await import('./commands/config/config-get.js')).configGet,
  'config set': async () => (await import('./commands/config/config-set.js')).configSet,
  'config unset': async () => (await import('./commands/config/config-set.js')).configUnset,
  'config edit': async () => (await import('./commands/config/config-edit.js')).configEdit,
  'config check': async () => (await import('./commands/config/config-check.js')).configCheck,
  'config schema': async () => (await import('./commands/config/config-schema.js')).configSchema,
  'config path': async () => (await import('./commands/config/config-schema.js')).configPathCommand,
  'daemon run': async () => (await import('./commands/daemon/daemon-run.js')).daemonRun,
  'daemon start': async () => (await import('./commands/daemon/daemon-start.js')).daemonStart,
  'daemon stop': async () => (await import('./commands/daemon/daemon-stop.js')).daemonStop,
  'daemon restart': async () => (await import('./commands/daemon/daemon-restart.js')).daemonRestart,
  'daemon reload': async () => (await import('./commands/daemon/daemon-reload.js')).daemonReload,
  'daemon install': async () => (await import('./commands/daemon/daemon-install.js')).daemonInstall,
  'daemon uninstall': async () => (await import('./commands/daemon/daemon-uninstall.js')).daemonUninstall,
  'daemon backup': async () => (await import('./commands/daemon/daemon-backup.js')).daemonBackup,
  'daemon logs': async () => (await import('./commands/daemon/daemon-logs.js')).daemonLogs,
  'daemon status': async () => (await import('./commands/daemon/daemon-status.js')).daemonStatus,
};
/** What shell completions ask; its words are not parsed, because they are half-typed. */
const completer = '__complete';
/** `ls` and `list` are synonyms everywhere. */
const aliases: Record<string, string> = { list: 'ls', 'permissions list': 'permissions ls', 'auth ls': 'auth list' };
const groupNames = ['permissions', 'auth', 'config', 'daemon'];
const refusals = [Refused, SessionUnclear, AttachRefused, SubscribeRefused, HomeUnknown, AuthFileRefused];
const globalFlags: Record<string, keyof GlobalFlags> = {
  '--host': 'host',
  '--socket': 'socket',
  '--state-dir': 'stateDir',
  '--config-dir': 'configDir',
};

/** Scans a command line without commander: words, flags of every command, and whether it is `plain`, without other flags. */
function scanArguments(argv: readonly string[]): { words: string[]; flags: GlobalFlags; plain: boolean } {
  const words: string[] = [];
  const flags: GlobalFlags = {};
  let plain = true;
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at] ?? '';
    const flag = globalFlags[word];
    if (flag !== undefined && at + 1 < argv.length) flags[flag] = argv[++at];
    else if (word.startsWith('-')) plain = false;
    else words.push(word);
    if (word === '--') return { words: [...words, ...argv.slice(at + 1)], flags, plain };
  }
  return { words, flags, plain };
}

async function choose(typed: string[]): Promise<CommandLine> {
  const { words, flags, plain } = scanArguments(typed);
  const [first = '', second = ''] = words;
  if (first === completer) {
    const { complete } = await import('./commands/shell/complete.js');
    return { subcommand: complete, args: { words: typed.slice(typed.indexOf(completer) + 1) }, flags };
  }
  if (first === 'help') return choose([...words.slice(1), '--help']);
  const isGroup = groupNames.includes(first);
  const name = isGroup ? `${first} ${second}` : first;
  const found = await load(aliases[name] ?? name, typed);
  // Commander takes a fifth of the startup time, and a name alone does not need it.
  if (found && plain && isNameOf(found, words.join(' '))) return { subcommand: found, args: {}, flags };
  const { parseCommandLine } = await import('./parse.js');
  if (found) return parseCommandLine(typed, [found]);
  // For help, or an unknown name, commander needs all subcommands.
  return parseCommandLine(first === '' || (isGroup && second === '') ? typed : words, await loadAll());
}

function loadAll(): Promise<Subcommand[]> {
  return Promise.all(Object.values(subcommands).map((loadAny) => loadAny()));
}

function isNameOf({ usage }: Subcommand, typed: string): boolean {
  return (aliases[typed] ?? typed) === usage.replace(/ ?\[.*/, '');
}

async function load(name: string, typed: string[]): Promise<Subcommand | undefined> {
  if (name === '' && !typed.some((word) => /^(-h|--help)$/.test(word))) return (await import('./default-command.js')).defaultCommand;
  return Object.hasOwn(subcommands, name) ? subcommands[name]?.() : undefined;
}

/** What is about this machine is not silently done here when another one is meant. */
function refuseHost({ usage, hosts }: Subcommand, flags: GlobalFlags, host: string | undefined): void {
  if (host === undefined) return;
  if (hosts === 'refused') {
    const name = usage.replace(/ ?[[<].*/, '');
    throw new WrongUsage(
      `berth ${name} is about this machine only; ssh ${host} berth ${name} does it there${flags.host ? '' : ' (BERTH_HOST is set)'}`,
    );
  }
  if (hosts === undefined && flags.socket !== undefined) {
    throw new WrongUsage('--socket is of this machine; hosts.NAME.command of config.json can have one of the other');
  }
}

/** An error as an exit code, an error code and a sentence. */
interface Failure {
  exitCode: ExitCode;
  code: string;
  sentence: string;
}

function toFailure(error: unknown): Failure {
  const message = error instanceof Error ? error.message : String(error);
  if (isCommanderError(error)) return { exitCode: error.exitCode === 0 ? exit.ok : exit.usage, code: 'usage', sentence: '' };
  if (error instanceof WrongUsage) return { exitCode: exit.usage, code: 'usage', sentence: message };
  if (error instanceof OtherDaemon) return { exitCode: exit.refused, code: 'other_daemon', sentence: message };
  // Its class is loaded only with --host.
  if (error instanceof Error && error.name === 'HostRefused') return { exitCode: exit.usage, code: 'usage', sentence: message };
  if (refusals.some((kind) => error instanceof kind)) {
    return { exitCode: exit.refused, code: error instanceof Refused ? error.code : 'refused', sentence: message };
  }
  const unreached = { exitCode: exit.noDaemon };
  if (error instanceof NoDaemon) return { ...unreached, code: 'no_daemon', sentence: `${message}; start one with berth daemon start` };
  if (error instanceof DaemonUnresponsive) return { ...unreached, code: 'daemon_unresponsive', sentence: message };
  if (error instanceof StartFailed) return { ...unreached, code: error.code, sentence: `the daemon could not be started: ${message}` };
  if (error instanceof HostUnreachable) return { ...unreached, code: 'host_unreachable', sentence: message };
  if (error instanceof ConnectionLost) return { ...unreached, code: 'connection_lost', sentence: `${message}; see berth daemon status` };
  return { exitCode: exit.internal, code: 'internal', sentence: `something went wrong inside berth: ${message}` };
}

/** An error of commander, which has printed its message already. Detected by its code, as commander may not be loaded. */
function isCommanderError(error: unknown): error is CommanderError {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('commander.');
}

/** Prints an error to standard error: a sentence, or with `--json` a line `{"error":{code,message}}`. */
function reportError(error: unknown): ExitCode {
  const { exitCode, code, sentence } = toFailure(error);
  process.exitCode = exitCode;
  if (sentence !== '') writeErr(wantsJson(process.argv) ? toErrorLine(code, sentence) : `berth: ${printable(sentence)}\n`);
  return exitCode;
}

/** Runs a command line. Never throws. */
async function main(argv: string[]): Promise<ExitCode> {
  process.once('uncaughtException', (error) => process.exit(reportError(error)));
  let close: () => void = () => undefined;
  try {
    const { subcommand, args, flags } = await choose(argv);
    if (!subcommand) return exit.usage;
    const cli = createCli(resolvePaths(flags, process.env), flags, loadAll);
    close = cli.close;
    refuseHost(subcommand, flags, cli.host);
    return await subcommand.run(args, cli);
  } catch (error) {
    return reportError(error);
  } finally {
    close();
  }
}

// All output is written synchronously, so that nothing is lost by not waiting for the connection to close.
void main(process.argv.slice(2)).then((code) => process.exit(code));
