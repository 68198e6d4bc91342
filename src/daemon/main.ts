import { existsSync } from 'node:fs';
import { close as closeDebugger } from 'node:inspector';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import type { Paths } from '../client/paths.js';
import { limits } from '../protocol/limits.js';
import { SocketRefused } from '../server/listen.js';
import { makeDir } from '../server/make-dir.js';
import { classifyFault, StoreRefused } from '../store/faults.js';
import { ConfigRefused } from './config.js';
import { createFaultPoints } from './fault-points.js';
import { createLogger } from './logger.js';
import { startDaemon, StartRefused, type Daemon } from './start.js';

export interface RunOptions {
  paths: Paths;
  workdir: string;
  /** Called once when clients can connect. */
  onReady(): void;
  /** Called when it cannot start: a code for programs and a sentence for people. */
  onRefused(code: string, sentence: string): void;
}

/** Runs the daemon in this process until it is told to stop. Returns the exit code. */
export async function runDaemon({ paths, workdir, onReady, onRefused }: RunOptions): Promise<number> {
  process.title = 'berthd';
  // Taken first of all, so that Node opens no debugger port for the one and does not end for the other.
  process.on('SIGUSR1', () => undefined);
  process.on('SIGUSR2', () => undefined);
  closeDebugger();
  // Idle is free: with a heap this small there is nothing to win from collecting it seconds after the last work.
  setFlagsFromString('--no-memory-reducer-for-small-heaps');
  const umask = process.umask(0o077);
  // Nobody may be left to read what is printed; that is no reason to stop.
  process.stdout.on('error', () => undefined);
  process.stderr.on('error', () => undefined);
  let daemon: Daemon;
  if (!existsSync('/proc/self/fd')) {
    onRefused('unsupported_system', 'berth needs Linux with /proc, and there is none here; in a container or chroot, mount it');
    return 1;
  }
  try {
    makeDir(paths.stateDir);
    const log = createLogger(join(paths.stateDir, 'berth.log'), process.env.BERTH_LOG_LEVEL);
    process.on('uncaughtException', (error) => {
      log.fatal({ err: error }, 'a bug');
      process.exit(70);
    });
    const exit = (code: number): never => process.exit(code);
    daemon = await startDaemon({ paths, workdir, env: process.env, umask, log, fault: createFaultPoints(process.env.BERTH_FAULT), exit });
    process.on('SIGHUP', () => {
      try {
        daemon.reload();
      } catch (error) {
        log.error({ err: error }, 'config was not read again');
      }
    });
  } catch (error) {
    onRefused(error instanceof StartRefused ? error.code : 'start_failed', toSentence(error, paths.stateDir));
    return isRefusal(error) ? 1 : 70;
  }
  const stop = (): void => {
    // A stop is bounded, whatever hangs.
    setTimeout(() => process.exit(0), limits.stopMs).unref();
    void daemon.stop();
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  onReady();
  await daemon.stopped;
  return 0;
}

function toSentence(error: unknown, stateDir: string): string {
  const fault = classifyFault(error);
  if (fault === 'storage_full') return `the disk that holds ${stateDir} is full; free some space and start again`;
  if (fault === 'store_busy') return `another program holds the store in ${stateDir}; try again when it is done`;
  return error instanceof Error ? error.message : String(error);
}

function isRefusal(error: unknown): boolean {
  const isSystem = error instanceof Error && 'syscall' in error;
  const fault = classifyFault(error);
  return (
    isSystem ||
    fault === 'storage_full' ||
    fault === 'store_busy' ||
    [StartRefused, StoreRefused, SocketRefused, ConfigRefused].some((kind) => error instanceof kind)
  );
}
