import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { Berth } from '../../../client/connect.js';
import { ConnectionLost, DaemonUnresponsive, NoDaemon } from '../../../client/errors.js';
import { openSocket } from '../../../client/unix-transport.js';
import { findLockHolder, killLockHolder, type LockHolder } from '../../../machine/lock-holder.js';
import type { Paths } from '../../../machine/paths.js';
import { readUnit, ServiceManagerRefused, serviceUnit, stopService, systemctl } from '../../../machine/systemd/user-manager.js';
import { listSessions } from '../../../client/resolve.js';
import { limits } from '../../../protocol/limits.js';
import { printableLine } from '../../../view/printable.js';
import { shortId } from '../../../view/short-ids.js';
import { exit, Refused } from '../../exit.js';
import { orRefused } from '../../refusals.js';
import type { Subcommand, Cli } from '../../subcommand.js';
import { refuseIdleService } from './idle-service.js';

interface Args {
  drain?: true;
  force?: true;
  json?: true;
}

interface InterruptedRun {
  session_id: string;
  title: string;
  asks: boolean;
}

const tuning = { pollMs: 20 } as const;

export const daemonStop: Subcommand = {
  usage: 'daemon stop',
  hosts: 'refused',
  summary: 'Stop the daemon, and wait until it is gone.',
  options: {
    '--drain': 'first let runs in progress come to their end; no new ones begin',
    '--force': 'kill it when it does not answer or does not end',
    '--json': 'print what happened as JSON',
  },
  notes: '--force kills only the process that holds the lock of the state directory. Runs that it cut off can be resumed.',
  examples: {
    'berth daemon stop --drain': 'when the runs in progress have ended',
    'berth daemon stop --force': 'one that does not answer',
  },
  async run({ drain, force, json }: Args, cli) {
    try {
      const { pid, interrupted } = await stopOrderly(cli, drain === true);
      if (json) cli.printJson({ stopped: true, killed: false, pid, runs: interrupted });
      else {
        cli.print(`stopped (pid ${pid})`);
        printInterrupted(cli, interrupted);
      }
    } catch (error) {
      const isAway = error instanceof NoDaemon;
      if (!isAway && !(error instanceof DaemonUnresponsive)) throw error;
      const holder = findLockHolder(cli.paths.stateDir);
      if (!force || !holder) throw isAway && holder ? toUnreachable(cli.paths, holder) : error;
      await kill(cli.paths, holder);
      if (json) cli.printJson({ stopped: true, killed: true, pid: holder.pid });
      else
        cli.print(`killed (pid ${holder.pid}); runs that were in progress are shown as interrupted by berth ls, and berth resume goes on`);
    }
    return exit.ok;
  },
};

export interface StoppedDaemon {
  pid: number;
  /** Runs that were in progress. */
  interrupted: InterruptedRun[];
}

/**
 * Shuts the daemon down, and waits for the end of its process. A service is stopped by systemd together with its sockets, which would start
 * it again, or restarted with its sockets left open.
 */
export async function stopOrderly(cli: Cli, drain: boolean, serviceJob: 'stop' | 'restart' = 'stop'): Promise<StoppedDaemon> {
  await refuseIdleService(cli.paths);
  const berth = await cli.connect({ autostart: false });
  const { pid, unit } = orRefused(await berth.call('get_daemon'));
  if (drain) orRefused(await berth.call('drain'));
  const interrupted = await listActiveRuns(berth);
  if (typeof unit === 'string') {
    berth.close();
    await endService(unit, serviceJob);
    return { pid, interrupted };
  }
  try {
    orRefused(await berth.call('shutdown'));
  } catch (error) {
    if (!(error instanceof ConnectionLost)) throw error;
  }
  // The daemon waits for connected clients.
  berth.close();
  await untilGone(cli.paths.socket, pid);
  return { pid, interrupted };
}

async function endService(unit: string, job: 'stop' | 'restart'): Promise<void> {
  try {
    await (job === 'stop' ? stopService(unit) : systemctl('restart', unit));
  } catch (error) {
    if (error instanceof ServiceManagerRefused) throw new Refused(printableLine(error.message), { cause: error });
    throw error;
  }
}

/** The error for a daemon that holds the lock of the state directory but listens on another socket, or on none. */
function toUnreachable({ socket, stateDir }: Paths, { pid }: LockHolder): DaemonUnresponsive {
  return new DaemonUnresponsive(
    `no daemon listens on ${socket}, but pid ${pid} is the daemon of ${stateDir}: it listens on another --socket, or does not end; ` +
      'berth daemon stop --force ends it',
  );
}

async function kill(paths: Paths, holder: LockHolder): Promise<void> {
  // systemd starts a service again that was killed, unless it is to stop it.
  if ((await readUnit(serviceUnit))?.mainPid === holder.pid) await stopService(serviceUnit, '--no-block');
  if (!killLockHolder(paths.stateDir, holder)) throw new Refused('the daemon has just ended or was replaced; see berth daemon status');
  await untilGone(undefined, holder.pid);
}

async function listActiveRuns(berth: Berth): Promise<InterruptedRun[]> {
  const asked = orRefused(await berth.call('list_ui_requests'));
  const asking = new Set(asked.requests.map(({ session_id }) => session_id));
  const sessions = [...(await listSessions(berth, {})), ...(await listSessions(berth, { archived: true }))];
  return sessions
    .filter(({ run_state }) => run_state !== 'idle')
    .map(({ session_id, title, last_user_message }) => ({
      session_id,
      title: title === '' ? last_user_message : title,
      asks: asking.has(session_id),
    }));
}

/** Waits until socket and process are gone: only then may the next daemon start. */
async function untilGone(socketPath: string | undefined, pid: number): Promise<void> {
  const deadline = performance.now() + limits.stopMs + limits.goodbyeMs + limits.startMs;
  while ((socketPath !== undefined && (await accepts(socketPath))) || isAlive(pid)) {
    if (performance.now() > deadline) {
      throw new DaemonUnresponsive(`the daemon (pid ${pid}) was told to stop but is still there; berth daemon stop --force ends it`);
    }
    await delay(tuning.pollMs);
  }
}

async function accepts(socketPath: string): Promise<boolean> {
  try {
    (await openSocket(socketPath)).destroy();
    return true;
  } catch (error) {
    if (error instanceof NoDaemon) return false;
    throw error;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !isZombie(pid);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** A zombie keeps its pid until its parent reaps it, which in some containers takes long. */
function isZombie(pid: number): boolean {
  const stat = `/proc/${pid}/stat`;
  return existsSync(stat) && /\) Z [^)]*$/.test(readFileSync(stat, 'utf8'));
}

/** Prints the interrupted runs of a stopped daemon, and how to resume them. */
export function printInterrupted(cli: Cli, interrupted: InterruptedRun[]): void {
  for (const { session_id, title, asks } of interrupted) {
    const named = `${shortId(session_id)}${title === '' ? '' : ` (${printableLine(title)})`}`;
    cli.print(
      asks
        ? `  ${named} waits for your answer, and will go on waiting when the daemon runs again`
        : `  the run of ${named} was interrupted; berth resume ${shortId(session_id)} goes on`,
    );
  }
}
