import { accessSync, constants, existsSync } from 'node:fs';
import { close as closeDebugger } from 'node:inspector';
import type { Paths } from '../machine/paths.js';
import { makeDir } from '../machine/make-dir.js';
import { isSystemError } from '../machine/system-calls.js';
import { StoreRefused } from '../store/faults.js';
import { takeLock, type Lock } from './lock.js';
import { copyProgram, installedDaemon } from './program-copy.js';
import type { check, serve } from './run.js';
import { cannotKeep, StartRefused, toFailedStart } from './start-refused.js';

export interface RunOptions {
  paths: Paths;
  workdir: string;
  /** Called once when clients can connect. */
  onReady(): void;
  /** Called when the daemon cannot start: a code for programs and a sentence for people. */
  onRefused(code: string, sentence: string): void;
}

/**
 * Runs the daemon in this process until it stops. Returns the exit code. Only the modules for the lock are loaded here: of many daemons
 * that start at once, all but one end at the lock, and that one copies the program and loads the rest from the copy.
 */
export async function runDaemon({ paths, workdir, onReady, onRefused }: RunOptions): Promise<number> {
  process.title = 'berthd';
  // Handled first: by default SIGUSR1 makes Node open a debugger port, and SIGUSR2 ends the process.
  process.on('SIGUSR1', () => undefined);
  process.on('SIGUSR2', () => undefined);
  closeDebugger();
  const umask = process.umask(0o077);
  // EPIPE: the terminal or pipe of stdout may be gone, and the daemon goes on.
  process.stdout.on('error', () => undefined);
  process.stderr.on('error', () => undefined);
  let lock: Lock;
  try {
    lock = lockStateDir(paths.stateDir);
  } catch (error) {
    const { code, sentence, exitCode } = toFailedStart(error, paths.stateDir, [StoreRefused]);
    onRefused(code, sentence);
    return exitCode;
  }
  const copy = copyProgram(paths.stateDir);
  const { serve } = await loadDaemon(copy?.entry);
  const onServing = (): void => {
    onReady();
    copy?.removeOthers();
  };
  return serve({ paths, workdir, umask, lock, onReady: onServing, onRefused });
}

/** Dry run: whether the installed program could start in the place of the running daemon. Returns the exit code. */
export async function checkDaemon({ paths, onRefused }: Pick<RunOptions, 'paths' | 'onRefused'>): Promise<number> {
  return (await loadDaemon()).check({ paths, onRefused });
}

/** Defined by bin/load-bundle.js for bundles; undefined when run from source. */
declare const loadBundle: ((file: string) => unknown) | undefined;

/** The exports of `run.ts`. */
interface DaemonModule {
  check: typeof check;
  serve: typeof serve;
}

async function loadDaemon(bundle = installedDaemon()): Promise<DaemonModule> {
  return typeof loadBundle === 'undefined' ? import('./run.js') : (loadBundle(bundle) as DaemonModule);
}

/** A home directory may be read-only. */
function makeStateDir(stateDir: string): void {
  try {
    makeDir(stateDir);
    accessSync(stateDir, constants.W_OK | constants.X_OK);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    throw new StartRefused(cannotKeep(stateDir, error.code));
  }
}

function lockStateDir(stateDir: string): Lock {
  if (!existsSync('/proc/self/fd')) {
    throw new StartRefused(
      'berth needs Linux with /proc, and /proc is not mounted here; in a container or chroot, mount it',
      'unsupported_system',
    );
  }
  makeStateDir(stateDir);
  const lock = takeLock(stateDir);
  if (!lock) throw new StartRefused(`a daemon already runs on ${stateDir}, perhaps with another --socket`, 'already_running');
  return lock;
}
