import { limits } from '../protocol/limits.js';
import { SocketRefused } from '../server/listen.js';
import { StoreRefused } from '../store/faults.js';
import { checkStart } from './check-start.js';
import { ConfigRefused } from '../machine/config.js';
import { createFaultPoints } from './fault-points.js';
import type { Lock } from './lock.js';
import { createLogger, type Logger } from './log/logger.js';
import { createLogSecrets } from './log/log-secrets.js';
import { logPath } from '../machine/log-files.js';
import { createServiceNotifier, type ServiceNotifier } from './service/service-notifier.js';
import { mapPassedSockets } from './service/passed-sockets.js';
import { takeServiceEnv } from './service/service-env.js';
import { version } from '../client/version.js';
import type { RunOptions } from './main.js';
import { toFailedStart } from './start-refused.js';
import { noteDamage } from './store-status.js';
import { startDaemon, type Daemon } from './start.js';

export interface ServeOptions extends RunOptions {
  /** The umask that the process was started with. */
  umask: number;
  /** The lock of the state directory, released at the end. */
  lock: Lock;
}

/** Dry run of a start, which another daemon on the same directories does not disturb. Returns the exit code. */
export function check({ paths, onRefused }: Pick<RunOptions, 'paths' | 'onRefused'>): number {
  try {
    checkStart(paths, process.env);
    return 0;
  } catch (error) {
    return refuse(error, paths.stateDir, onRefused);
  }
}

function refuse(error: unknown, stateDir: string, onRefused: RunOptions['onRefused']): number {
  const { code, sentence, exitCode } = toFailedStart(error, stateDir, [StoreRefused, SocketRefused, ConfigRefused]);
  onRefused(code, sentence);
  return exitCode;
}

const readyStatus = `berth ${version}, ready`;

/** Serves clients until a shutdown. Returns the exit code. */
export async function serve({ paths, workdir, umask, lock, onReady, onRefused }: ServeOptions): Promise<number> {
  let daemon: Daemon;
  let notifier: ServiceNotifier;
  const serviceEnv = takeServiceEnv(process.env, process.pid);
  let writing: Logger | undefined;
  try {
    const secrets = createLogSecrets(process.env);
    const openLog = (): Logger => createLogger(logPath(paths.stateDir), { level: process.env.BERTH_LOG_LEVEL, secrets: secrets.current });
    const log = openLog();
    writing = log;
    process.on('uncaughtException', (error) => {
      log.fatal({ err: error }, noteDamage(paths.stateDir, error) ?? 'uncaught exception: a bug in berth');
      process.exit(70);
    });
    const exit = (code: number, sentence?: string): never => {
      if (sentence !== undefined) process.stderr.write(`berthd: ${sentence}\n`);
      process.exit(code);
    };
    const fault = createFaultPoints(process.env.BERTH_FAULT);
    notifier = createServiceNotifier(serviceEnv, log);
    const passed = serviceEnv.passedNames && mapPassedSockets(serviceEnv.passedNames, paths.socket);
    const service = { unit: serviceEnv.unit, passed, notifier };
    daemon = await startDaemon({ paths, workdir, env: process.env, umask, lock, log, openLog, secrets, service, fault, exit });
    process.on('SIGHUP', () => {
      notifier.reloading();
      const { problem } = daemon.reload();
      notifier.ready(problem ?? readyStatus);
    });
  } catch (error) {
    const damage = noteDamage(paths.stateDir, error);
    return refuse(damage === undefined ? error : new StoreRefused(damage, { cause: error }), paths.stateDir, (code, sentence) => {
      writing?.fatal({ err: error }, sentence);
      onRefused(code, sentence);
    });
  }
  const stop = (): void => {
    // Timeout of a shutdown that hangs.
    setTimeout(() => process.exit(0), limits.stopMs).unref();
    void daemon.stop();
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  onReady();
  notifier.ready(readyStatus);
  (await import('./heap-bounds.js')).boundHeap();
  await daemon.stopped;
  return 0;
}
