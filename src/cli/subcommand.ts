import { connect, type Berth, type ConnectOptions } from '../client/connect.js';
import { meantDirs, type PathFlags, type Paths } from '../machine/paths.js';
import type { Transport } from '../client/transport.js';
import { resolveSession } from '../client/resolve.js';
import { printableJson, printableLine } from '../view/printable.js';
import { WrongUsage, type ExitCode } from './exit.js';
import { toNoticeLine, wantsJson } from './error-line.js';
import { newestHere } from './newest.js';
import { writeErr, writeOut } from './terminal/standard-streams.js';
import { nameTerminal } from './terminal/terminal-name.js';
import { version } from '../client/version.js';

/** Options of every command, by name. */
export interface GlobalFlags extends PathFlags {
  host?: string | undefined;
}

/** The context of a subcommand. */
export interface Cli {
  readonly paths: Paths;
  /** The machine whose daemon is meant, when it is another one. */
  readonly host: string | undefined;
  /** Connects to the daemon, and starts one when none runs, unless `autostart` is false. */
  connect(options?: Pick<ConnectOptions, 'autostart' | 'uiCapabilities' | 'role' | 'transport'>): Promise<Berth>;
  /** Resolves a session name; without one, the newest session of this directory or of the nearest ancestor. */
  resolve(berth: Berth, name: string | undefined): Promise<string>;
  /** Every subcommand of the help. */
  subcommands(): Promise<Subcommand[]>;
  /** Prints a line to standard output. Untrusted text must be sanitized before. */
  print(line: string): void;
  /** Prints a value as a line of JSON. */
  printJson(value: unknown): void;
  /** Prints a line to standard error. */
  printError(line: string): void;
  /** Prints a notice to standard error: a line that begins with `berth:`, or with --json a line of JSON. */
  notice(line: string): void;
}

/** A subcommand: its command line and its implementation. */
export interface Subcommand {
  /** Name and arguments, in commander's syntax. */
  usage: string;
  summary: string;
  /** A synonym of the last word of the name. */
  alias?: string;
  options?: Record<string, string>;
  /** What it does when another machine is meant, if it is about this one. Others reach the daemon there. */
  hosts?: 'refused' | 'ignored';
  /** The error for unknown options and excess arguments, which does not echo them. */
  unwanted?: string;
  /** The error for excess arguments, instead of commander's own. */
  excess?: string;
  /** Text of `--help` below the options. */
  notes?: string;
  /** Command lines and what each does, at the end of `--help`. */
  examples?: Record<string, string>;
  /** `args` has arguments and options by name, validated by commander. */
  run(args: object, cli: Cli): Promise<ExitCode>;
}

/** A hint about a version mismatch: an upgrade does not reach a running daemon. */
function toVersionHint(daemonVersion: string, host: string | undefined): string | undefined {
  if (daemonVersion === version) return undefined;
  if (host !== undefined) return `this is berth ${version}, but the daemon on ${host} is ${printableLine(daemonVersion)}`;
  return `this is berth ${version}, but the daemon that runs is ${printableLine(daemonVersion)}; berth daemon restart brings it to this version`;
}

export function createCli(paths: Paths, flags: GlobalFlags, subcommands: Cli['subcommands']): Cli & { close(): void } {
  const open: Berth[] = [];
  const notice = (line: string): void => writeErr(wantsJson(process.argv) ? toNoticeLine(line) : `berth: ${line}\n`);
  const host = [flags.host, process.env.BERTH_HOST].find((name) => name !== undefined && name !== '');
  let hinted = false;

  function hintVersions(daemonVersion: string, where: string | undefined): void {
    const hint = toVersionHint(daemonVersion, where);
    if (hint !== undefined && !hinted && !wantsJson(process.argv)) notice(hint);
    hinted = true;
  }

  async function reachHost(name: string): Promise<Transport> {
    const { openHost } = await import('./remote/hosts.js');
    return openHost(name, paths.configDir, process.env, true);
  }

  return {
    paths,
    host,
    async connect({ autostart = true, transport, ...options } = {}) {
      const reached = transport ?? (host === undefined ? undefined : await reachHost(host));
      const berth = await connect({
        paths,
        ...(reached === undefined ? { meant: meantDirs(flags, process.env) } : { transport: reached }),
        client: { name: nameTerminal(), kind: 'cli', version },
        autostart,
        onSlow: notice,
        ...options,
      });
      open.push(berth);
      hintVersions(berth.hello().server.version, reached?.host);
      return berth;
    },
    resolve: (berth, name = '.') => (name === '.' ? newestHere(berth, notice) : resolveSession(berth, name, '')),
    notice,
    subcommands,
    print: (line) => writeOut(`${line}\n`),
    printJson: (value) => writeOut(`${printableJson(value)}\n`),
    printError: (line) => writeErr(`${line}\n`),
    close() {
      for (const berth of open) berth.close();
    },
  };
}

/** Parses an integer of a command line. */
export function readCount(what: string, typed: string, min: number): number {
  const count = Number(typed);
  if (!/^\d+$/.test(typed) || !Number.isSafeInteger(count) || count < min) {
    throw new WrongUsage(`${what} must be a whole number from ${min}, not ${JSON.stringify(typed)}`);
  }
  return count;
}

/** Parses a number from 0 of a command line, which may have a fraction. */
export function readNumber(what: string, typed: string): number {
  if (!/^(\d+\.?\d*|\.\d+)$/.test(typed)) throw new WrongUsage(`${what} must be a number from 0, not ${JSON.stringify(typed)}`);
  return Number(typed);
}
