import { existsSync } from 'node:fs';
import { close as closeDebugger } from 'node:inspector';
import type { Paths } from '../machine/paths.js';
import { makeDir } from '../machine/make-dir.js';
import { StoreRefused } from '../store/faults.js';
import { takeLock, type Lock } from './lock.js';
import { copyProgram, installedDaemon } from './program-copy.js';
import type { check, serve } from './run.js';
import { StartRefused, toFailedStart } from './start-refused.js';

export interface RunOptions {
  paths: Paths;
  workdir: string;
  /** Called once when clients can connect. */
  onReady(): void;
  /** Called when it cannot start: a code for programs and a sentence for people. */
  onRefused(code: string, sentence: string): void;
}

/**
 * Runs the daemon in this process until it is told to stop. Returns the exit code. Only what the lock needs is loaded here: of many that
 * start at once, all but one end at the lock, and that one alone copies the program and loads the rest from the copy.
 */
export async function runDaemon({ paths, workdir, onReady, onRefused }: RunOptions): Promise<number> {
  process.title = 'berthd';
  // Taken first of all, so that Node opens no debugger port for the one and does not end for the other.
  process.on('SIGUSR1', () => undefined);
  process.on('SIGUSR2', () => undefined);
  closeDebugger();
  const umask = process.umask(0o077);
  // Nobody may be left to read what is printed; that is no reason to stop.
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

/** Says whether the installed daemon could start in the place of one that runs, or why not. Returns the exit code. */
export async function checkDaemon({ paths, onRefused }: Pick<RunOptions, 'paths' | 'onRefused'>): Promise<number> {
  return (await loadDaemon()).check({ paths, onRefused });
}

/** What bin/load-bundle.js gives to the bundles that it runs; the sources run without. */
declare const loadBundle: ((file: string) => unknown) | undefined;

/** What `run.ts` exports. */
interface DaemonModule {
  check: typeof check;
  serve: typeof serve;
}

async function loadDaemon(bundle = installedDaemon()): Promise<DaemonModule> {
  return typeof loadBundle === 'undefined' ? import('./run.js') : (loadBundle(bundle) as DaemonModule);
}

function lockStateDir(stateDir: string): Lock {
  if (!existsSync('/proc/self/fd')) {
    throw new StartRefused(
      'berth needs Linux with /proc, and there is none here; in a container or chroot, mount it',
      'unsupported_system',
    );
  }
  makeDir(stateDir);
  const lock = takeLock(stateDir);
  if (!lock) throw new StartRefused(`a daemon already runs on ${stateDir}, perhaps with another --socket`, 'already_running');
  return lock;
}
