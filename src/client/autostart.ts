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
import { openSocket } from './unix-transport.js';

const tuning = { pollMs: 20 } as const;

/**
 * Connect; on failure take the start lock, try again, spawn, wait until the daemon is ready. Whoever does not get the lock only
 * waits: fifty at once spawn one. The lock spares work; that there is only one daemon is ensured by the daemon's own lock.
 */
export async function ensureDaemon(paths: Paths): Promise<void> {
  if (await isListening(paths.socket)) return;
  const lockFile = `${paths.socket}.starting`;
  makeSocketDir(dirname(paths.socket));
  const deadline = performance.now() + limits.startMs;
  const goneBy = performance.now() + limits.stopMs;
  while (performance.now() < deadline) {
    const lock = takeStartLock(lockFile);
    if (lock) {
      try {
        if (await isListening(paths.socket)) return;
        await spawnDaemon(paths);
        return;
      } catch (error) {
        if (!(error instanceof StartFailed) || error.code !== 'already_running') throw error;
        // The daemon before may still settle what it ran: it has no sockets any more but holds its lock.
        const holder = findLockHolder(paths.stateDir);
        if (holder && (holder.stopped || performance.now() > goneBy)) throw toStuck(paths, holder);
        if (performance.now() > goneBy) throw error;
      } finally {
        lock.release();
      }
    }
    await delay(tuning.pollMs);
    if (await isListening(paths.socket)) return;
  }
  throw new StartFailed(`the daemon did not become ready within ${limits.startMs / 1000} s; see ${paths.stateDir}/berth.log`);
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

/** A lock that was left by a starter that died is taken over once it is older than any start may take. */
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

/** Throws why a daemon could not be started in the place of one that runs: asked of the installed program, as a start would be. */
export async function checkStartable(paths: Paths): Promise<void> {
  const failure = await untilReady(spawnBerth(paths, ['daemon', 'run', '--check']));
  if (failure) throw failure;
}

function spawnBerth({ socket, stateDir, configDir }: Paths, words: string[]): ChildProcess {
  const args = [programPath(), ...words, '--json', '--socket', socket, '--state-dir', stateDir, '--config-dir', configDir];
  return spawn(process.execPath, args, { detached: true, stdio: ['ignore', 'pipe', 'pipe'], env: daemonEnv(process.env) });
}

/** Options of Node that say how much memory or which certificates to use. Others load code, open a debugger or write files. */
const keptNodeOption =
  /^--(max-(old-space|semi-space|http-header)-size|max-heap-size|stack-size|use-(system|bundled|openssl)-ca|use-env-proxy|openssl-legacy-provider|tls-[\w.-]+|dns-result-order|no-warnings)(=|$)/;

/** The environment of the daemon: what debugs or instruments the program that starts it is not meant for it. */
function daemonEnv(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { NODE_OPTIONS: options, ...rest } = env;
  if (options === undefined) return rest;
  const words = options.split(/\s+/).filter((word) => word !== '');
  const kept = words.flatMap((word, at) => {
    if (!keptNodeOption.test(word)) return [];
    const value = words[at + 1];
    return !word.includes('=') && value !== undefined && !value.startsWith('-') ? [`${word}=${value}`] : [word];
  });
  return kept.length === 0 ? rest : { ...rest, NODE_OPTIONS: kept.join(' ') };
}

/** Resolves to why it did not become ready, if it did not. */
function untilReady(child: ChildProcess): Promise<StartFailed | undefined> {
  return new Promise((resolve, reject) => {
    let complaint = '';
    child.stdout?.once('data', () => settle());
    child.stderr?.on('data', (chunk: Buffer) => (complaint = (complaint + chunk.toString()).slice(0, limits.startErrorCharsMax)));
    child.once('error', reject);
    child.once('close', (code) => settle(toFailure(complaint, code)));
    const late = `the daemon did not become ready within ${limits.startMs / 1000} s`;
    const timer = setTimeout(() => settle(new StartFailed(late)), limits.startMs);
    function settle(failure?: StartFailed): void {
      clearTimeout(timer);
      child.stdout?.destroy();
      child.stderr?.destroy();
      resolve(failure);
    }
  });
}

/** What a daemon that ended said: with `--json` an error is a line of JSON. What Node says itself is not. */
function toFailure(complaint: string, exitCode: number | null): StartFailed {
  const line = complaint.split('\n').find((text) => text.startsWith('{"error":'));
  if (line !== undefined) {
    const { error } = JSON.parse(line) as { error: { code: string; message: string } };
    return new StartFailed(error.message, { code: error.code });
  }
  return new StartFailed(complaint.trim().replace(/^berth: /, '') || `the daemon ended with exit code ${exitCode ?? 'unknown'}`);
}

/** `bin/berth.js`, seen from the bundle or from the sources. */
function programPath(): string {
  const places = ['../bin/berth.js', '../../bin/berth.js'].map((place) => fileURLToPath(new URL(place, import.meta.url)));
  const found = places.find((place) => existsSync(place));
  if (found === undefined) throw new StartFailed('bin/berth.js is missing; install berth again');
  return found;
}
