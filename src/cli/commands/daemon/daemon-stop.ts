import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { Berth } from '../../../client/connect.js';
import { ConnectionLost, DaemonUnresponsive, NoDaemon } from '../../../client/errors.js';
import { openSocket } from '../../../client/unix-transport.js';
import { findLockHolder, killLockHolder, type LockHolder } from '../../../machine/lock-holder.js';
import type { Paths } from '../../../machine/paths.js';
import { listSessions } from '../../../client/resolve.js';
import { limits } from '../../../protocol/limits.js';
import { printableLine } from '../../../view/printable.js';
import { shortId } from '../../../view/short-ids.js';
import { exit, Refused } from '../../exit.js';
import { orRefused } from '../../refusals.js';
import type { Subcommand, Cli } from '../../subcommand.js';

interface Args {
  drain?: true;
  force?: true;
  json?: true;
}

interface LeftRun {
  session_id: string;
  title: string;
  asks: boolean;
}

const tuning = { pollMs: 20 } as const;

export const daemonStop: Subcommand = {
  usage: 'daemon stop',
  summary: 'Stop the daemon, and wait until it is gone.',
  options: {
    '--drain': 'first let runs in progress come to their end; no new ones begin',
    '--force': 'kill it when it does not answer or does not end',
    '--json': 'print what happened as JSON',
  },
  notes: '--force kills only the process that holds the lock of the state directory. Runs that it cut off can be resumed.',
  async run({ drain, force, json }: Args, cli) {
    try {
      const { pid, left } = await stopOrderly(cli, drain === true);
      if (json) cli.printJson({ stopped: true, killed: false, pid, runs: left });
      else {
        cli.print(`stopped (pid ${pid})`);
        tellLeft(cli, left);
      }
    } catch (error) {
      const isAway = error instanceof NoDaemon;
      if (!isAway && !(error instanceof DaemonUnresponsive)) throw error;
      const holder = findLockHolder(cli.paths.stateDir);
      if (!force || !holder) throw isAway && holder ? toHidden(cli.paths, holder) : error;
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
  left: LeftRun[];
}

/** Has the daemon stop, and waits until it is gone. */
export async function stopOrderly(cli: Cli, drain: boolean): Promise<StoppedDaemon> {
  const berth = await cli.connect({ autostart: false });
  const { pid } = orRefused(await berth.call('get_daemon'));
  if (drain) orRefused(await berth.call('drain'));
  const left = await runsLeft(berth);
  try {
    orRefused(await berth.call('shutdown'));
  } catch (error) {
    if (!(error instanceof ConnectionLost)) throw error;
  }
  // The daemon waits for those who are still connected.
  berth.close();
  await untilGone(cli.paths.socket, pid);
  return { pid, left };
}

/** A daemon that has no sockets any more, or others, still holds the lock. */
function toHidden({ socket, stateDir }: Paths, { pid }: LockHolder): DaemonUnresponsive {
  return new DaemonUnresponsive(
    `no daemon listens on ${socket}, but pid ${pid} is the daemon of ${stateDir}: it listens on another --socket, or does not end; ` +
      'berth daemon stop --force ends it',
  );
}

async function kill(paths: Paths, holder: LockHolder): Promise<void> {
  if (!killLockHolder(paths.stateDir, holder))
    throw new Refused('the daemon has just ended or was replaced; look again with berth daemon status');
  await untilGone(undefined, holder.pid);
}

async function runsLeft(berth: Berth): Promise<LeftRun[]> {
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

/** The socket goes first, the process last: only then may the next daemon begin. */
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

/** A process that has ended may keep its number until its parent looks, and in containers some parents take their time. */
function isZombie(pid: number): boolean {
  const stat = `/proc/${pid}/stat`;
  return existsSync(stat) && /\) Z [^)]*$/.test(readFileSync(stat, 'utf8'));
}

/** Says what became of the runs of a daemon that was stopped. */
export function tellLeft(cli: Cli, left: LeftRun[]): void {
  for (const { session_id, title, asks } of left) {
    const named = `${shortId(session_id)}${title === '' ? '' : ` (${printableLine(title)})`}`;
    cli.print(
      asks
        ? `  ${named} waits for your answer, and will go on waiting when the daemon runs again`
        : `  the run of ${named} was interrupted; berth resume ${shortId(session_id)} goes on`,
    );
  }
}
