import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { limits } from '../protocol/limits.js';
import { StartFailed } from './errors.js';
import { openSocket } from './lines.js';
import { takeLockFile, type LockFile } from './lock-file.js';
import type { Paths } from './paths.js';

const pollMs = 20;

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
        if (!isGoingAway(error) || performance.now() > goneBy) throw error;
      } finally {
        lock.release();
      }
    }
    await delay(pollMs);
    if (await isListening(paths.socket)) return;
  }
  throw new StartFailed(`the daemon did not become ready within ${limits.startMs / 1000} s; see ${paths.stateDir}/berth.log`);
}

/** The daemon before still settles what it ran: it has no sockets any more but holds its lock. */
function isGoingAway(error: unknown): boolean {
  return error instanceof StartFailed && error.message.startsWith('a daemon already runs');
}

async function isListening(socketPath: string): Promise<boolean> {
  try {
    (await openSocket(socketPath)).destroy();
    return true;
  } catch (error) {
    if (error instanceof Error && error.name === 'NoDaemon') return false;
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

async function spawnDaemon({ socket, stateDir, configDir }: Paths): Promise<void> {
  const args = [programPath(), 'daemon', 'run', '--socket', socket, '--state-dir', stateDir, '--config-dir', configDir];
  const child = spawn(process.execPath, args, { detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const said = await untilReady(child);
  child.unref();
  if (said !== 'ready') throw new StartFailed(said);
}

/** `ready`, or what the daemon said instead. */
function untilReady(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let complaint = '';
    child.stdout?.once('data', () => settle('ready'));
    child.stderr?.on('data', (chunk: Buffer) => (complaint += chunk.toString().slice(0, 4096)));
    child.once('error', reject);
    child.once('close', (code) =>
      settle(complaint.trim().replace(/^berth: /, '') || `the daemon ended with exit code ${code ?? 'unknown'}`),
    );
    const timer = setTimeout(() => settle(`the daemon did not become ready within ${limits.startMs / 1000} s`), limits.startMs);
    function settle(said: string): void {
      clearTimeout(timer);
      child.stdout?.destroy();
      child.stderr?.destroy();
      resolve(said);
    }
  });
}

/** `bin/berth.js`, seen from the bundle or from the sources. */
function programPath(): string {
  const places = ['../bin/berth.js', '../../bin/berth.js'].map((place) => fileURLToPath(new URL(place, import.meta.url)));
  const found = places.find((place) => existsSync(place));
  if (found === undefined) throw new StartFailed('bin/berth.js is missing; install berth again');
  return found;
}
