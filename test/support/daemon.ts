import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { connect, type Berth, type ConnectOptions } from '../../src/client/index.js';
import type { Paths } from '../../src/machine/paths.js';
import { openRaw, type RawClient } from './raw-client.js';

export const program = fileURLToPath(new URL('../../bin/berth.js', import.meta.url));

export interface DaemonSetup {
  config?: unknown;
  env?: Record<string, string>;
  /** Words a second of the offline guide; as fast as possible unless told. */
  wps?: number;
  /** A directory to use instead of a new one; it is left alone at the end. */
  root?: string;
}

/** A real daemon process in directories of its own. `await using` stops it and removes them. */
export interface TestDaemon extends AsyncDisposable {
  readonly root: string;
  readonly paths: Paths;
  readonly workdir: string;
  readonly env: Record<string, string>;
  pid(): number;
  /** What the process that was started last has said on standard error. */
  complaint(): string;
  start(): Promise<void>;
  kill9(): Promise<void>;
  /** Resolves to the exit code when the process ends by itself. */
  exited(): Promise<number | null>;
  /** Sends SIGTERM and resolves to the exit code. */
  terminate(): Promise<number | null>;
  /** Resolves when the process has ended by itself, to its exit code and what it wrote to standard error. */
  ended(): Promise<{ code: number | null; complaint: string }>;
  connect(options?: Omit<ConnectOptions, 'paths'>): Promise<Berth>;
  raw(): Promise<RawClient>;
  rawEvents(): Promise<RawClient>;
  rssBytes(): number;
}

export function makeRoot(): string {
  return mkdtempSync(join(tmpdir(), 'berth-'));
}

/** The environment of a daemon that knows nothing of the person who runs the tests. */
export function cleanEnv(root: string, extra: Record<string, string> = {}): Record<string, string> {
  const kept = Object.entries(process.env).filter(
    ([name, value]) => value !== undefined && !/_API_KEY$|^BERTH_|^ANTHROPIC_|^OPENAI_|^XDG_|^NODE_OPTIONS$|^VITEST|^LISTEN_/.test(name),
  ) as [string, string][];
  return { ...Object.fromEntries(kept), HOME: join(root, 'home'), ...extra };
}

export function pathsIn(root: string): Paths {
  return { socket: join(root, 's', 'b.sock'), stateDir: join(root, 'state'), configDir: join(root, 'config') };
}

export async function startDaemon(setup: DaemonSetup = {}): Promise<TestDaemon> {
  const root = setup.root ?? makeRoot();
  const paths = pathsIn(root);
  const workdir = join(root, 'work');
  for (const dir of [join(root, 's'), paths.configDir, workdir, join(root, 'home')]) mkdirSync(dir, { recursive: true, mode: 0o700 });
  if (setup.config !== undefined) writeFileSync(join(paths.configDir, 'config.json'), JSON.stringify(setup.config));
  const env = cleanEnv(root, {
    BERTH_SOCKET: paths.socket,
    BERTH_STATE_DIR: paths.stateDir,
    BERTH_CONFIG_DIR: paths.configDir,
    BERTH_OFFLINE_WPS: String(setup.wps ?? 0),
    ...setup.env,
  });
  const clients: { close(): void }[] = [];
  let child: ChildProcess | undefined;
  let complaint = '';

  async function start(): Promise<void> {
    const started = spawn(process.execPath, [program, 'daemon', 'run'], { cwd: workdir, env, stdio: ['ignore', 'pipe', 'pipe'] });
    child = started;
    complaint = '';
    started.stderr.on('data', (chunk: Buffer) => (complaint += chunk.toString()));
    const ended = once(started, 'exit').then(([code]) => {
      throw new Error(`the daemon ended with ${String(code)}: ${complaint}`);
    });
    await Promise.race([once(started.stdout, 'data'), ended]);
    ended.catch(() => undefined);
    started.stdout.resume();
  }

  function running(): ChildProcess {
    if (!child) throw new Error('the daemon was not started');
    return child;
  }

  async function end(signal: NodeJS.Signals): Promise<number | null> {
    const ending = running();
    if (ending.exitCode !== null || ending.signalCode !== null) return ending.exitCode;
    const exited = once(ending, 'exit');
    ending.kill(signal);
    await exited;
    return ending.exitCode;
  }

  function kept<T extends { close(): void }>(client: T): T {
    clients.push(client);
    return client;
  }

  await start();
  return {
    root,
    paths,
    workdir,
    env,
    pid: () => running().pid ?? 0,
    complaint: () => complaint,
    start,
    async kill9() {
      await end('SIGKILL');
    },
    async exited() {
      const ending = running();
      if (ending.exitCode === null && ending.signalCode === null) await once(ending, 'exit');
      return ending.exitCode;
    },
    terminate: () => end('SIGTERM'),
    async ended() {
      const ending = running();
      if (ending.exitCode === null && ending.signalCode === null) await once(ending, 'close');
      return { code: ending.exitCode, complaint };
    },
    connect: async (options = {}) => kept(await connect({ ...options, paths })),
    raw: async () => kept(await openRaw(paths.socket)),
    rawEvents: async () => kept(await openRaw(`${paths.socket}.events`)),
    rssBytes() {
      const status = readFileSync(`/proc/${running().pid ?? 0}/status`, 'utf8');
      return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) * 1024;
    },
    async [Symbol.asyncDispose]() {
      for (const client of clients) client.close();
      await end('SIGTERM');
      if (setup.root === undefined) rmSync(root, { recursive: true, force: true });
    },
  };
}
