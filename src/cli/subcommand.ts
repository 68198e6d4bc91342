import { connect, type Berth, type ConnectOptions } from '../client/connect.js';
import { meantDirs, type PathFlags, type Paths } from '../machine/paths.js';
import { resolveSession } from '../client/resolve.js';
import { printableJson, printableLine } from '../view/printable.js';
import { WrongUsage, type ExitCode } from './exit.js';
import { toNoticeLine, wantsJson } from './error-line.js';
import { newestHere } from './newest.js';
import { writeErr, writeOut } from './terminal/standard-streams.js';
import { nameTerminal } from './terminal/terminal-name.js';
import { version } from '../client/version.js';

/** What a subcommand has at hand. */
export interface Cli {
  readonly paths: Paths;
  /** Reaches the daemon, and starts one when there is none, unless told not to. */
  connect(options?: Pick<ConnectOptions, 'autostart' | 'uiCapabilities'>): Promise<Berth>;
  /** The session a person means; the newest of this directory, or of the nearest one around it, when it has no name. */
  resolve(berth: Berth, name: string | undefined): Promise<string>;
  /** A line to standard output. What people or models wrote must be printable already. */
  print(line: string): void;
  /** A value as a line of JSON, for programs. */
  printJson(value: unknown): void;
  /** A line to standard error. */
  complain(line: string): void;
  /** Something to know that is no part of the result: a line to standard error that begins with `berth:`, or is one of JSON. */
  tell(line: string): void;
}

/** One subcommand: how it is called, and what it does. */
export interface Subcommand {
  /** Its name and its arguments as a person types them. */
  usage: string;
  summary: string;
  /** Another word for the last one of its name. */
  alias?: string;
  options?: Record<string, string>;
  /** What is said, instead of what was typed, to anything on the command line that it does not take. */
  unwanted?: string;
  /** What is said to more arguments than it takes, where commander's own count of them would not help. */
  excess?: string;
  /** What `--help` says below the options. */
  notes?: string;
  /** Arguments come by their names, options beside them. Commander has checked that they are there. */
  run(args: object, cli: Cli): Promise<ExitCode>;
}

/** An upgrade does not reach a daemon that runs already, and what is new is missing without a word. */
function toVersionHint(daemonVersion: string): string | undefined {
  if (daemonVersion === version) return undefined;
  return `this is berth ${version}, but the daemon that runs is ${printableLine(daemonVersion)}; berth daemon restart brings it to this version`;
}

export function createCli(paths: Paths, flags: PathFlags = {}): Cli & { close(): void } {
  const open: Berth[] = [];
  const tell = (line: string): void => writeErr(wantsJson(process.argv) ? toNoticeLine(line) : `berth: ${line}\n`);
  let hinted = false;

  function hintVersions(daemonVersion: string): void {
    const hint = toVersionHint(daemonVersion);
    if (hint !== undefined && !hinted && !wantsJson(process.argv)) tell(hint);
    hinted = true;
  }

  return {
    paths,
    async connect({ autostart = true, ...options } = {}) {
      const berth = await connect({
        paths,
        meant: meantDirs(flags, process.env),
        client: { name: nameTerminal(), kind: 'cli', version },
        autostart,
        onSlow: tell,
        ...options,
      });
      open.push(berth);
      hintVersions(berth.hello().server.version);
      return berth;
    },
    resolve: (berth, name = '.') => (name === '.' ? newestHere(berth, tell) : resolveSession(berth, name, '')),
    tell,
    print: (line) => writeOut(`${line}\n`),
    printJson: (value) => writeOut(`${printableJson(value)}\n`),
    complain: (line) => writeErr(`${line}\n`),
    close() {
      for (const berth of open) berth.close();
    },
  };
}

/** A whole number that a person typed. */
export function readCount(what: string, typed: string, min: number): number {
  const count = Number(typed);
  if (!/^\d+$/.test(typed) || !Number.isSafeInteger(count) || count < min) {
    throw new WrongUsage(`${what} must be a whole number from ${min}, not ${JSON.stringify(typed)}`);
  }
  return count;
}
