import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { limits } from '../protocol/limits.js';
import { DaemonUnresponsive, NoDaemon, StartFailed } from './errors.js';
import { takeLockFile, type LockFile } from '../machine/lock-file.js';
import { findLockHolder, type LockHolder } from '../machine/lock-holder.js';
import type { Paths } from '../machine/paths.js';
import { isInstalledFor } from '../machine/systemd/installed-units.js';
import { readUnit, ServiceManagerRefused, serviceUnit, startService } from '../machine/systemd/user-manager.js';
import { openSocket } from './unix-transport.js';

const tuning = { pollMs: 20 } as const;

/**
 * Connects; on failure takes the start lock, connects again, spawns the daemon and waits until it is ready. A process that does not get the
 * lock only waits: fifty at once spawn one daemon. The start lock saves work; mutual exclusion is ensured by the daemon's own lock.
 */
export async function ensureDaemon(paths: Paths): Promise<void> {
  if (await isListening(paths.socket)) return;
  const lockFile = `${paths.socket}.starting`;
  makeSocketDir(dirname(paths.socket));
  const deadline = performance.now() + limits.startMs;
  const stopDeadline = performance.now() + limits.stopMs;
  while (performance.now() < deadline) {
    const lock = takeStartLock(lockFile);
    if (lock) {
      try {
        if (await isListening(paths.socket)) return;
        if (!(await startInstalled(paths))) await spawnDaemon(paths);
        return;
      } catch (error) {
        if (!(error instanceof StartFailed) || error.code !== 'already_running') throw error;
        // The previous daemon may still be shutting down: its sockets are closed, but it holds its lock.
        const holder = findLockHolder(paths.stateDir);
        if (holder && (holder.stopped || performance.now() > stopDeadline)) throw toStuck(paths, holder);
        if (performance.now() > stopDeadline) throw error;
      } finally {
        lock.release();
      }
    }
    await delay(tuning.pollMs);
    if (await isListening(paths.socket)) return;
  }
  throw new StartFailed(`the daemon did not become ready within ${limits.startMs / 1000} s; see ${paths.stateDir}/berth.log`);
}

/** Starts the installed service of this socket. False when there is none, or no systemd answers. */
async function startInstalled(paths: Paths): Promise<boolean> {
  if (!isInstalledFor(paths.socket, process.env) || !(await readUnit(serviceUnit))) return false;
  try {
    await startService();
    return true;
  } catch (error) {
    if (!(error instanceof ServiceManagerRefused)) throw error;
    const holder = findLockHolder(paths.stateDir);
    if (holder)
      throw new StartFailed(`a daemon that is not the service runs (pid ${holder.pid})`, { code: 'already_running', cause: error });
    await checkStartable(paths);
    throw new StartFailed(`${error.message}; journalctl --user -u ${serviceUnit} says more`, { cause: error });
  }
}

function toStuck({ socket, stateDir }: Paths, { pid, stopped }: LockHolder): DaemonUnresponsive {
  return new DaemonUnresponsive(
    `a daemon (pid ${pid}) uses ${stateDir} but does not listen on ${socket}: ` +
      `${stopped ? `it is stopped; kill -CONT ${pid} lets it go on` : 'it listens on another --socket, or does not end'}; ` +
      'berth daemon stop --force ends it',
  );
}

async function isListening(socketPath: string): Promise<boolean> {
  try {
    (await openSocket(socketPath)).destroy();
    return true;
  } catch (error) {
    if (error instanceof NoDaemon) return false;
    throw error;
  }
}

function makeSocketDir(dir: string): void {
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new StartFailed(`cannot make the socket directory ${dir}: ${(error as Error).message}`, { cause: error });
  }
}

/** A start lock is stale, and taken over, once it is older than the timeout of a start. */
function takeStartLock(file: string): LockFile | undefined {
  try {
    return takeLockFile(file, limits.startMs);
  } catch (error) {
    throw new StartFailed(`cannot start the daemon: ${(error as Error).message}`, { cause: error });
  }
}

async function spawnDaemon(paths: Paths): Promise<void> {
  const child = spawnBerth(paths, ['daemon', 'run']);
  const failure = await untilReady(child);
  child.unref();
  if (failure) throw failure;
}

/** Dry run: throws why the installed program could not start in the place of the running daemon. */
export async function checkStartable(paths: Paths): Promise<void> {
  const failure = await untilReady(spawnBerth(paths, ['daemon', 'run', '--check']));
  if (failure) throw failure;
}

function spawnBerth({ socket, stateDir, configDir }: Paths, words: string[]): ChildProcess {
  const args = [programPath(), ...words, '--json', '--socket', socket, '--state-dir', stateDir, '--config-dir', configDir];
  return spawn(process.execPath, args, { detached: true, stdio: ['ignore', 'pipe', 'pipe'], env: daemonEnv(process.env) });
}

/** NODE_OPTIONS about memory, network and certificates. Others load code, open a debugger or write files. */
const inheritedNodeOption =
  /^--(max-(old-space|semi-space|http-header)-size|max-heap-size|stack-size|use-(system|bundled|openssl)-ca|use-env-proxy|openssl-legacy-provider|tls-[\w.-]+|dns-result-order|no-warnings)(=|$)/;

/** The environment of the daemon, without NODE_OPTIONS that debug or instrument the program that starts it. */
function daemonEnv(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { NODE_OPTIONS: options, ...rest } = env;
  if (options === undefined) return rest;
  const words = options.split(/\s+/).filter((word) => word !== '');
  const inherited = words.flatMap((word, at) => {
    if (!inheritedNodeOption.test(word)) return [];
    const value = words[at + 1];
    return !word.includes('=') && value !== undefined && !value.startsWith('-') ? [`${word}=${value}`] : [word];
  });
  return inherited.length === 0 ? rest : { ...rest, NODE_OPTIONS: inherited.join(' ') };
}

/** Resolves with the failure of the start, or undefined when the daemon is ready. */
function untilReady(child: ChildProcess): Promise<StartFailed | undefined> {
  return new Promise((resolve, reject) => {
    let stderr = '';
    child.stdout?.once('data', () => settle());
    child.stderr?.on('data', (chunk: Buffer) => (stderr = (stderr + chunk.toString()).slice(0, limits.startErrorCharsMax)));
    child.once('error', reject);
    child.once('close', (code) => settle(toFailure(stderr, code)));
    const late = `the daemon did not become ready within ${limits.startMs / 1000} s; see berth.log in its state directory`;
    const timer = setTimeout(() => settle(new StartFailed(late)), limits.startMs);
    function settle(failure?: StartFailed): void {
      clearTimeout(timer);
      child.stdout?.destroy();
      child.stderr?.destroy();
      resolve(failure);
    }
  });
}

/** The failure from stderr: with `--json` an error of berth is a line of JSON; an error of Node is plain text. */
function toFailure(stderr: string, exitCode: number | null): StartFailed {
  const line = stderr.split('\n').find((text) => text.startsWith('{"error":'));
  if (line !== undefined) {
    const { error } = JSON.parse(line) as { error: { code: string; message: string } };
    return new StartFailed(error.message, { code: error.code });
  }
  return new StartFailed(stderr.trim().replace(/^berth: /, '') || `the daemon ended with exit code ${exitCode ?? 'unknown'}`);
}

/** The path of `bin/berth.js`, relative to the bundle or to the sources. */
function programPath(): string {
  const places = ['../bin/berth.js', '../../bin/berth.js'].map((place) => fileURLToPath(new URL(place, import.meta.url)));
  const found = places.find((place) => existsSync(place));
  if (found === undefined) throw new StartFailed('bin/berth.js is missing; install berth again');
  return found;
}
