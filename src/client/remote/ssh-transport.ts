import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { limits } from '../../protocol/limits.js';
import { ConnectionLost, HostUnreachable } from '../errors.js';
import type { Transport } from '../transport.js';
import type { Greeting } from './frames.js';
import { openRelayLink, type RelayLink } from './relay-link.js';
import { explainSsh, sshArguments, type SshTarget } from './ssh-command.js';

export interface SshTransportOptions extends SshTarget {
  /** The first ssh may ask for a password, a passphrase or a host key, on the terminal of this process. No later one does. */
  canAsk?: boolean;
}

export interface SshTransport extends Transport {
  readonly host: string;
  home(): string | undefined;
  /** Ends ssh, and with it all streams. */
  close(): void;
}

const tuning = { lastWordsMs: 500 } as const;

/**
 * The transport to a daemon of another machine: one `ssh HOST berth relay` carries all streams. Throws HostRefused for a host that ssh must not
 * be given. When ssh ends, the next stream starts another, with backoff; `open` throws HostUnreachable with what ssh said.
 */
export function createSshTransport({ canAsk = false, ...target }: SshTransportOptions): SshTransport {
  const { command = ['berth'], name: host = target.host } = target;
  sshArguments(target, canAsk);
  let linking: Promise<RelayLink> | undefined;
  let greeting: Greeting | undefined;
  let current: ChildProcess | undefined;
  let retryAt = 0;
  let retryMs: number = limits.sshRetryMinMs;

  async function link(): Promise<RelayLink> {
    const waitMs = retryAt - performance.now();
    // Jitter: clients that lost a host together do not come back together.
    if (waitMs > 0) await delay(waitMs * (0.75 + Math.random() / 2));
    try {
      const linked = await startSsh();
      ({ greeting } = linked);
      retryMs = limits.sshRetryMinMs;
      return linked;
    } catch (error) {
      linking = undefined;
      retryAt = performance.now() + retryMs;
      retryMs = Math.min(2 * retryMs, limits.sshRetryMaxMs);
      throw error;
    }
  }

  async function startSsh(): Promise<RelayLink> {
    const mayAsk = canAsk && greeting === undefined;
    const [program, args] = sshArguments(target, mayAsk);
    const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] });
    current = child;
    const { stdin, stdout, stderr } = child;
    let said = '';
    let isLate = false;
    let broken: string | undefined;
    let idle: NodeJS.Timeout | undefined;
    const standing = { isLinked: false, isOver: false };
    stderr
      .on('error', () => undefined)
      .setEncoding('utf8')
      .on('data', (text: string) => (said = (said + text).slice(-limits.sshSaidCharsMax)));
    const ended = untilEnded(child);
    const timer = setTimeout(
      () => {
        isLate = true;
        child.kill();
      },
      mayAsk ? limits.sshAskMs : limits.sshConnectMs,
    );

    /** An ssh that is not used does not keep this process, and is ended after a while. */
    function onUse(count: number): void {
      clearTimeout(idle);
      const pipes = [stdin, stdout, stderr] as unknown as Socket[];
      for (const held of [child, ...pipes]) {
        if (count === 0) held.unref();
        else held.ref();
      }
      if (count === 0) idle = setTimeout(() => stdin.end(), limits.sshIdleMs).unref();
    }

    function onEnd(error?: Error): void {
      clearTimeout(idle);
      broken = error?.message;
      // The end of its input ends a relay and its ssh; a program that is not a relay may not care.
      stdin.destroy();
      if (error) child.kill();
      standing.isOver = true;
      if (standing.isLinked) forget();
    }

    function forget(): void {
      linking = undefined;
      retryAt = performance.now() + retryMs;
    }

    try {
      const opened = await openRelayLink({ input: stdout, output: stdin, host, onUse, onEnd });
      standing.isLinked = true;
      // Race: it ended right behind its first line.
      if (standing.isOver) forget();
      return opened;
    } catch (error) {
      if (error instanceof ConnectionLost || broken !== undefined) {
        child.kill();
        const { code, problem } = await ended;
        const why = problem ?? explainSsh({ code, said, host, command: command.join(' '), isLate });
        throw new HostUnreachable(broken === undefined ? why : `${host} cannot be reached: ${broken}`, { cause: error });
      }
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  function linked(): Promise<RelayLink> {
    linking ??= link();
    return linking;
  }

  return {
    name: host,
    host,
    home: () => greeting?.home,
    open: async (kind) => (await linked()).open(kind),
    start: async () => (await linked()).start(),
    close: () => void current?.kill(),
  };
}

/** How a child ended, once its last words were read. */
async function untilEnded(child: ChildProcess): Promise<{ code: number | null; problem?: string }> {
  const problem = new Promise<{ code: null; problem: string }>((resolve) =>
    child.once('error', (error) =>
      resolve({
        code: null,
        problem: `cannot run ${child.spawnfile}: ${error.message}; install OpenSSH's client, or name another in BERTH_SSH`,
      }),
    ),
  );
  const exited = once(child, 'exit').then(async ([code]) => {
    // A program that ssh left behind (ControlPersist) may keep its standard error open.
    if (child.stderr && !child.stderr.closed) await Promise.race([once(child.stderr, 'close'), delay(tuning.lastWordsMs)]);
    return { code: code as number | null };
  });
  exited.catch(() => undefined);
  return Promise.race([problem, exited]);
}
