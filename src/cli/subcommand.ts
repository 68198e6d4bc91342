import { connect, type Berth, type ConnectOptions } from '../client/connect.js';
import type { Paths } from '../client/paths.js';
import { resolveSession } from '../client/resolve.js';
import { currentDirectory } from './directory.js';
import { WrongUsage, type ExitCode } from './exit.js';
import { printableJson } from './printable.js';
import { writeErr, writeOut } from './standard-streams.js';
import { version } from './version.js';

/** What a subcommand has at hand. */
export interface Cli {
  readonly paths: Paths;
  /** Reaches the daemon, and starts one when there is none, unless told not to. */
  connect(options?: Pick<ConnectOptions, 'autostart' | 'uiCapabilities'>): Promise<Berth>;
  /** The session a person means; the newest of this directory when it has no name. */
  resolve(berth: Berth, name: string | undefined): Promise<string>;
  /** A line to standard output. What people or models wrote must be printable already. */
  print(line: string): void;
  /** A value as a line of JSON, for programs. */
  printJson(value: unknown): void;
  /** A line to standard error. */
  complain(line: string): void;
}

/** One subcommand: how it is called, and what it does. */
export interface Subcommand {
  /** Its name and its arguments as a person types them. */
  usage: string;
  summary: string;
  options?: Record<string, string>;
  /** What `--help` says below the options. */
  notes?: string;
  /** Arguments come by their names, options beside them. Commander has checked that they are there. */
  run(args: object, cli: Cli): Promise<ExitCode>;
}

export function createCli(paths: Paths): Cli & { close(): void } {
  const open: Berth[] = [];
  return {
    paths,
    async connect({ autostart = true, ...options } = {}) {
      const berth = await connect({ paths, client: { name: 'berth', kind: 'cli', version }, autostart, ...options });
      open.push(berth);
      return berth;
    },
    resolve: (berth, name = '.') => resolveSession(berth, name, name === '.' ? currentDirectory() : ''),
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
