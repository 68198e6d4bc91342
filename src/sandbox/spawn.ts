import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, constants, fstatSync, openSync, readlinkSync } from 'node:fs';
import { release } from 'node:os';
import { limits } from '../protocol/limits.js';
import { toBubblewrapArgs, type BubblewrapFound } from './bubblewrap.js';
import { O_PATH } from '../machine/system-calls.js';
import type { Confinement } from './port.js';
import { toChildEnv } from './child-env.js';
import type { OutputPipe } from './output-pipe.js';
import { findProgram } from './find-program.js';
import { markerVariable, watermarkOf } from './process-tree.js';

export interface SpawnDeps {
  bubblewrap: () => BubblewrapFound;
  /** The environment of the daemon. */
  env: Record<string, string | undefined>;
  home: string;
  /** The umask of the person; the daemon's own umask is stricter. */
  umask: number;
}

export interface SpawnOptions {
  command: string;
  /** A real path. */
  cwd: string;
  confinement: Confinement;
  /** The value of `markerVariable` in the whole process tree. */
  marker: string;
  pipe: OutputPipe;
  /** RLIMIT_NPROC: processes and threads at once. */
  processesMax: number;
}

/** Why a command could not be started at all. */
export class CannotStart extends Error {}

/**
 * A shell prelude that limits a command before it starts: no core dumps, first victim of the OOM killer, a lower scheduling priority, and
 * RLIMIT_NPROC in a user namespace (not for root; before Linux 5.14 the kernel counts all processes of the user). /tmp and /dev/shm are
 * limited in bubblewrap.ts, memory and processes are polled in resource-limits.ts.
 */
const prelude = [
  'exec 2>/dev/null',
  'umask "$4"',
  'ulimit -c 0',
  '[ "$1" = - ] || ulimit -u "$1"',
  '[ "$2" = - ] || { ulimit -S -i "$2"; ulimit -S -q "$3"; }',
  'echo 1000 >/proc/self/oom_score_adj',
  // With scheduler autogroups, the nice value of a process counts only within its session.
  'echo 5 >/proc/self/autogroup',
  // Closes descriptors that the daemon inherited. Shells other than bash cannot close those beyond 9.
  'for fd in /proc/self/fd/*; do fd=${fd##*/}; [ "$fd" -gt 2 ] && [ -n "$BASH" -o "$fd" -lt 10 ] && eval "exec $fd>&-"; done',
  'shift 4',
];
/**
 * Waits for a line on standard input, or exits when the daemon dies first. A command without a namespace does not die with the daemon, so it
 * must not begin before the ledger has its process: a crash in between would leave a process that nobody knows of.
 */
const waitForLedger = ['read -r _ || exit 126', 'exec </dev/null'];
/** The init process of a namespace stays, reaps orphans and passes on the exit code of the command. */
const preludes = {
  init: [...prelude, '( exec "$@" 2>&1 )', 'exit $?'].join('\n'),
  bare: [...waitForLedger, ...prelude, 'exec "$@" 2>&1'].join('\n'),
};

/** Compares device and inode of directories that were bound by name, and refuses to run the command after a change (TOCTOU race). */
const compareInodes = [
  'want=$1 have=; shift',
  'while [ "$1" != -- ]; do have="$have$(stat -c %d:%i "$1") "; shift; done; shift',
  '[ "$have" = "$want" ] || { echo "The working directory was moved or replaced just now; nothing was started."; exit 126; }',
  'exec "$@"',
].join('\n');

/** Starts a command in its own process group, and in a sandbox if it is confined. `releaseCommand` lets it begin. */
export function createSpawner({ bubblewrap, env, home, umask }: SpawnDeps) {
  const countsProcesses = process.getuid?.() !== 0 && countsByNamespace(release());

  function spawnIn({ command, cwd, confinement, marker, pipe, processesMax }: SpawnOptions): ChildProcess {
    const bash = findProgram('bash');
    const shell = bash ?? '/bin/sh';
    const nice = findProgram('nice');
    const bare = confinement.kind === 'bare';
    // Only bash can set these two rlimits.
    const watermark = bash === undefined ? undefined : watermarkOf(marker);
    const argv = [
      ...[shell, '-c', bare ? preludes.bare : preludes.init, 'berth'],
      countsProcesses && confinement.kind === 'sandbox' ? String(processesMax) : '-',
      ...(watermark ? [String(watermark.pendingSignals), String(watermark.queueBytes)] : ['-', '-']),
      umask.toString(8).padStart(4, '0'),
      ...(nice === undefined ? [] : [nice, '-n', '5']),
      ...[shell, '-c', command],
    ];
    const options = { detached: true, env: { ...toChildEnv(env, { home, cwd, confinement }), [markerVariable]: marker } };
    if (bare) return spawn(shell, argv.slice(1), { ...options, cwd, stdio: ['pipe', pipe.writeEnd, pipe.writeEnd] });
    const found = bubblewrap();
    if ('missing' in found) throw new CannotStart(`There is no sandbox to run the command in: ${found.missing}`);
    const { args, pinned, boundByName } = toBubblewrapArgs(confinement, { cwd, bubblewrap: found });
    const comparison =
      boundByName.length === 0 ? [] : [shell, '-c', compareInodes, 'berth', boundByName.map(identityOf).join(''), ...boundByName, '--'];
    const pins = pinned.map(openUnmoved);
    try {
      return spawn(found.path, [...args, '--', ...comparison, ...argv], {
        ...options,
        cwd: '/',
        stdio: ['ignore', pipe.writeEnd, 'pipe', ...pins],
      });
    } finally {
      for (const pin of pins) closeSync(pin);
    }
  }

  /** The write end of the pipe is closed in any case. */
  return (spawned: SpawnOptions): ChildProcess => {
    try {
      return spawnIn(spawned);
    } catch (error) {
      spawned.pipe.stop();
      throw toCannotStart(error);
    } finally {
      spawned.pipe.closeWriteEnd();
    }
  };
}

export interface ChildExit {
  code: number | null;
  signal: NodeJS.Signals | null;
  /** Why the command could not be started. */
  problem: string | undefined;
}

export function waitForChildExit(child: ChildProcess): Promise<ChildExit> {
  let errorText = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (errorText = (errorText + text).slice(0, limits.errorTextCharsMax)));
  return new Promise((resolve) => {
    child.on('error', (error) => resolve({ code: null, signal: null, problem: toCannotStart(error).message }));
    child.on('exit', (code, signal) => {
      const problem = (): string | undefined => (errorText === '' ? undefined : `The sandbox could not be set up: ${errorText.trim()}`);
      const settle = (): void => resolve({ code, signal, problem: problem() });
      // stderr belongs to bubblewrap alone, which writes only when it fails. After a kill nothing more comes, and a child of its setup may
      // hold the pipe open until it is killed as well.
      if (!child.stderr || child.stderr.closed || signal !== null) settle();
      else child.stderr.on('close', settle);
    });
  });
}

/** Called when the ledger has the process. */
export function releaseCommand(child: ChildProcess): void {
  // A command that was killed meanwhile does not read (EPIPE); its exit is told as any other.
  child.stdin?.on('error', () => undefined).end('\n');
}

function openUnmoved(path: string): number {
  const fd = openSync(path, O_PATH | constants.O_NOFOLLOW);
  if (readlinkSync(`/proc/self/fd/${fd}`) === path && !fstatSync(fd).isSymbolicLink()) return fd;
  closeSync(fd);
  throw new CannotStart(`${path} was moved or replaced just now; nothing was started. Try again.`);
}

function identityOf(path: string): string {
  const pin = openUnmoved(path);
  try {
    const { dev, ino } = fstatSync(pin, { bigint: true });
    return `${dev}:${ino} `;
  } finally {
    closeSync(pin);
  }
}

/** Since Linux 5.14, RLIMIT_NPROC counts the processes of each user namespace separately. */
function countsByNamespace(kernel: string): boolean {
  const [major = 0, minor = 0] = kernel.split('.').map(Number);
  return major > 5 || (major === 5 && minor >= 14);
}

export function toCannotStart(error: unknown): CannotStart {
  return error instanceof CannotStart ? error : new CannotStart(`The command could not be started: ${reasonOf(error)}`);
}

function reasonOf(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code;
  switch (code) {
    case 'E2BIG':
      return 'the command is too long (E2BIG); write it to a file and run that.';
    case 'EAGAIN':
    case 'EMFILE':
    case 'ENFILE':
    case 'ENOMEM':
      return `the machine has no room for another process (${code}). Try again when fewer processes run.`;
    default:
      return error instanceof Error ? error.message : String(error);
  }
}
