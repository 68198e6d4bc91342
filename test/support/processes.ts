import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cleanEnv, pathsIn, program as builtProgram } from './daemon.js';
import { openRaw, type RawClient } from './raw-client.js';
import { publicTempDir, type ReadableProgram } from './readable-program.js';

export const isRoot = process.getuid?.() === 0;
/** An account that is not ours and has no name. */
export const strangerUid = 54_321;

export interface Launched extends AsyncDisposable {
  readonly child: ChildProcess;
  /** Resolves when it says so; rejects when it ends instead. */
  ready: Promise<void>;
  /** The exit code, once it has ended. */
  ended: Promise<number | null>;
  stderr(): string;
  alive(): boolean;
}

export interface LaunchOptions {
  env: Record<string, string>;
  cwd?: string;
  /** Start it as another user, for whom the program must be readable. */
  as?: { uid: number; installed: ReadableProgram };
  /** What runs the program, such as `['sh', '-c', 'umask 000; exec "$@"', 'sh']`. */
  through?: string[];
  args?: string[];
  /** Another program than the one that was built. */
  program?: string;
}

/** Starts a daemon that may well refuse to start. `await using` ends it. */
export function launch({ env, cwd = '/', as, through = [], args = ['daemon', 'run'], program = builtProgram }: LaunchOptions): Launched {
  const installed = as?.installed ?? { node: process.execPath, program };
  const [command, ...rest] = [...through, installed.node, installed.program, ...args] as [string, ...string[]];
  const child = spawn(command, rest, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], ...(as && { uid: as.uid, gid: as.uid }) });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const ended = once(child, 'close').then(([code]) => code as number | null);
  const ready = Promise.race([
    once(child.stdout, 'data').then(() => undefined),
    ended.then((code) => {
      throw new Error(`ended with ${code}: ${stderr}`);
    }),
  ]);
  ready.catch(() => undefined);
  const alive = (): boolean => child.exitCode === null && child.signalCode === null;
  return {
    child,
    ready,
    ended,
    stderr: () => stderr,
    alive,
    async [Symbol.asyncDispose]() {
      if (alive()) child.kill('SIGTERM');
      await ended;
    },
  };
}

/** A place of one's own, removed at the end. Others may look into it but not write. */
export interface Place extends Disposable {
  root: string;
  socket: string;
  stateDir: string;
  configDir: string;
  /** The environment of a daemon that lives here, with some of it replaced or (undefined) taken away. */
  env(changes?: Record<string, string | undefined>): Record<string, string>;
}

export function makePlace(): Place {
  const root = mkdtempSync(join(publicTempDir(), 'berth-'));
  chmodSync(root, 0o755);
  mkdirSync(join(root, 'home'));
  const { socket, stateDir, configDir } = pathsIn(root);
  return {
    root,
    socket,
    stateDir,
    configDir,
    env(changes = {}) {
      const all: Record<string, string | undefined> = {
        ...cleanEnv(root, { BERTH_SOCKET: socket, BERTH_STATE_DIR: stateDir, BERTH_CONFIG_DIR: configDir, BERTH_OFFLINE_WPS: '0' }),
        ...changes,
      };
      return Object.fromEntries(Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined));
    },
    [Symbol.dispose]() {
      rmSync(root, { recursive: true, force: true });
    },
  };
}

/** Asks for a pong on a socket. */
export async function ping(socketPath: string): Promise<boolean> {
  let client: RawClient | undefined;
  try {
    client = await openRaw(socketPath);
    return (await client.call('ping')).type === 'pong';
  } catch (error) {
    if (error instanceof Error) return false;
    throw error;
  } finally {
    client?.close();
  }
}

/** The TCP ports that a process listens on. */
export function listeningPorts(pid: number): number[] {
  const inodes = new Set(
    readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return [/^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1]];
      } catch (error) {
        // Closed between the two looks.
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
        throw error;
      }
    }),
  );
  return ['tcp', 'tcp6'].flatMap((table) =>
    readFileSync(`/proc/${pid}/net/${table}`, 'utf8')
      .split('\n')
      .slice(1)
      .map((line) => line.trim().split(/\s+/))
      .filter((columns) => columns[3] === '0A' && inodes.has(columns[9]))
      .map((columns) => parseInt(columns[1]!.split(':')[1]!, 16)),
  );
}
