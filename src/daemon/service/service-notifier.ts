import { spawn } from 'node:child_process';
import { limits } from '../../protocol/limits.js';
import { findProgram } from '../../sandbox/find-program.js';
import type { Logger } from '../log/logger.js';
import type { ServiceEnv } from './service-env.js';

/** Tells the service manager about the daemon (sd_notify). Without one, every call does nothing. */
export interface ServiceNotifier {
  /** Clients can connect. The watchdog is fed from now on. */
  ready(status: string): void;
  reloading(): void;
  stopping(): void;
}

/**
 * Node has no Unix datagrams, so the messages go through `systemd-notify`, one child after the other. The watchdog is fed at half of its
 * interval by a timer of the event loop: a loop that hangs feeds nothing.
 */
export function createServiceNotifier({ notifySocket, watchdogMs }: ServiceEnv, log: Pick<Logger, 'warn'>): ServiceNotifier {
  if (notifySocket === undefined) return { ready: () => undefined, reloading: () => undefined, stopping: () => undefined };
  const found = findProgram('systemd-notify');
  if (found === undefined) log.warn('systemd-notify is not installed: the service manager is not told that the daemon is ready');
  const program = found ?? '';
  let previous = Promise.resolve();
  let hasFailed = false;
  let isFed = false;

  function send(...assignments: string[]): Promise<void> {
    previous = previous.then(() => (program === '' ? undefined : runOnce(assignments)));
    return previous;
  }

  function runOnce(assignments: string[]): Promise<void> {
    return new Promise((resolve) => {
      const child = spawn(program, ['--', ...assignments], {
        env: { NOTIFY_SOCKET: notifySocket },
        cwd: '/',
        stdio: 'ignore',
        timeout: limits.serviceNotifyMs,
        killSignal: 'SIGKILL',
      });
      // A stopped daemon does not wait for it.
      child.unref();
      child.once('error', (error) => settle(error.message));
      child.once('exit', (code) => settle(code === 0 ? undefined : `exit code ${code ?? 'unknown'}`));
      function settle(problem: string | undefined): void {
        if (problem !== undefined && !hasFailed) log.warn({ problem }, 'systemd-notify failed: the service manager was not told');
        hasFailed = problem !== undefined;
        resolve();
      }
    });
  }

  function feed(intervalMs: number): void {
    setTimeout(() => void send('WATCHDOG=1').then(() => feed(intervalMs)), intervalMs).unref();
  }

  return {
    ready(status) {
      void send('READY=1', `STATUS=${status}`);
      if (watchdogMs !== undefined && !isFed) feed(watchdogMs / 2);
      isFed = true;
    },
    reloading: () => void send('RELOADING=1', `MONOTONIC_USEC=${process.hrtime.bigint() / 1000n}`),
    // At once: the process may end before an earlier message is through.
    stopping: () => void (program !== '' && runOnce(['STOPPING=1', 'STATUS=ending runs and commands'])),
  };
}
