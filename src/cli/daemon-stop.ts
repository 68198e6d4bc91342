import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { Berth } from '../client/connect.js';
import { ConnectionLost, NoDaemon } from '../client/errors.js';
import { openSocket } from '../client/lines.js';
import { listSessions } from '../client/resolve.js';
import { limits } from '../protocol/limits.js';
import { shortId } from './brief.js';
import { exit, Refused } from './exit.js';
import { printableLine } from './printable.js';
import { orRefused } from './refusals.js';
import type { Subcommand, Cli } from './subcommand.js';

interface Args {
  drain?: true;
  json?: true;
}

interface LeftRun {
  session_id: string;
  title: string;
  asks: boolean;
}

const pollMs = 20;

export const daemonStop: Subcommand = {
  usage: 'daemon stop',
  summary: 'Stop the daemon, and wait until it is gone.',
  options: { '--drain': 'first let runs in progress come to their end; no new ones begin', '--json': 'print what happened as JSON' },
  async run({ drain, json }: Args, cli) {
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
    if (json) cli.printJson({ stopped: true, pid, runs: left });
    else tellStopped(cli, pid, left);
    return exit.ok;
  },
};

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
async function untilGone(socketPath: string, pid: number): Promise<void> {
  const deadline = performance.now() + limits.stopMs + limits.goodbyeMs + limits.startMs;
  while ((await accepts(socketPath)) || isAlive(pid)) {
    if (performance.now() > deadline) throw new Refused(`the daemon (pid ${pid}) was told to stop but is still there`);
    await delay(pollMs);
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

function tellStopped(cli: Cli, pid: number, left: LeftRun[]): void {
  cli.print(`stopped (pid ${pid})`);
  for (const { session_id, title, asks } of left) {
    const named = `${shortId(session_id)}${title === '' ? '' : ` (${printableLine(title)})`}`;
    cli.print(
      asks
        ? `  ${named} waits for your answer, and will go on waiting when the daemon runs again`
        : `  the run of ${named} was interrupted; berth resume ${shortId(session_id)} goes on`,
    );
  }
}
