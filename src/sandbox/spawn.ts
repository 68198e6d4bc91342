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
  /** The daemon's. */
  env: Record<string, string | undefined>;
  home: string;
  /** The person's; the daemon's own is stricter. */
  umask: number;
}

export interface Spawned {
  command: string;
  /** A real path. */
  cwd: string;
  confinement: Confinement;
  /** What all its descendants carry. */
  marker: string;
  pipe: OutputPipe;
  /** How many processes it may have at once; threads count as well. */
  processesMax: number;
}

/** Why a command could not be started at all. */
export class CannotStart extends Error {}

/**
 * What keeps a command from hurting others from its first moment on: core files are off, the kernel takes memory from it first, others
 * have the processor before it, /tmp and /dev/shm are bounded (see bubblewrap.ts), and in a user namespace the kernel counts its
 * processes (but not those of root, and before 5.14 all of a person's). What it takes after that is watched (see process-watch.ts).
 */
const prelude = [
  'exec 2>/dev/null',
  'umask "$4"',
  'ulimit -c 0',
  '[ "$1" = - ] || ulimit -u "$1"',
  '[ "$2" = - ] || { ulimit -S -i "$2"; ulimit -S -q "$3"; }',
  'echo 1000 >/proc/self/oom_score_adj',
  // Where each session is a group of its own to the scheduler, the nice value of one process means nothing to the others.
  'echo 5 >/proc/self/autogroup',
  // Whoever started the daemon may have left descriptors open. Other shells cannot close those beyond 9.
  'for fd in /proc/self/fd/*; do fd=${fd##*/}; [ "$fd" -gt 2 ] && [ -n "$BASH" -o "$fd" -lt 10 ] && eval "exec $fd>&-"; done',
  'shift 4',
];
/** The first process of a namespace stays, collects orphans and tells how the command ended. */
const preludes = { init: [...prelude, '( exec "$@" 2>&1 )', 'exit $?'].join('\n'), bare: [...prelude, 'exec "$@" 2>&1'].join('\n') };

/** Runs nothing when what was bound by name is not what was there when it was looked at. */
const compare = [
  'want=$1 have=; shift',
  'while [ "$1" != -- ]; do have="$have$(stat -c %d:%i "$1") "; shift; done; shift',
  '[ "$have" = "$want" ] || { echo "The working directory was moved or replaced just now; nothing was started."; exit 126; }',
  'exec "$@"',
].join('\n');

/** Starts a command as a group of its own, in its sandbox if it has one. */
export function createSpawner({ bubblewrap, env, home, umask }: SpawnDeps) {
  const countsProcesses = process.getuid?.() !== 0 && countsByNamespace(release());

  function spawnIn({ command, cwd, confinement, marker, pipe, processesMax }: Spawned): ChildProcess {
    const bash = findProgram('bash');
    const shell = bash ?? '/bin/sh';
    const nice = findProgram('nice');
    const bare = confinement.kind === 'bare';
    // Only bash can set these two.
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
    if (bare) return spawn(shell, argv.slice(1), { ...options, cwd, stdio: ['ignore', pipe.writeEnd, pipe.writeEnd] });
    const found = bubblewrap();
    if ('missing' in found) throw new CannotStart(`There is no sandbox to run it in: ${found.missing}`);
    const { args, pinned, named } = toBubblewrapArgs(confinement, { cwd, bubblewrap: found });
    const compared = named.length === 0 ? [] : [shell, '-c', compare, 'berth', named.map(identityOf).join(''), ...named, '--'];
    const pins = pinned.map(openPinned);
    try {
      return spawn(found.path, [...args, '--', ...compared, ...argv], {
        ...options,
        cwd: '/',
        stdio: ['ignore', pipe.writeEnd, 'pipe', ...pins],
      });
    } finally {
      for (const pin of pins) closeSync(pin);
    }
  }

  /** The write end of the pipe is closed in any case. */
  return (spawned: Spawned): ChildProcess => {
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

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  /** Why nothing was started. */
  problem: string | undefined;
}

export function toEnded(child: ChildProcess): Promise<Ended> {
  let complaint = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (complaint = (complaint + text).slice(0, limits.errorTextCharsMax)));
  return new Promise((resolve) => {
    child.on('error', (error) => resolve({ code: null, signal: null, problem: toCannotStart(error).message }));
    child.on('exit', (code, signal) => {
      const problem = (): string | undefined => (complaint === '' ? undefined : `The sandbox could not be set up: ${complaint.trim()}`);
      const settle = (): void => resolve({ code, signal, problem: problem() });
      // Only bubblewrap itself has this pipe, and it says something only when it fails. One that was killed says no more, and what it
      // had only just begun may hold the pipe until it is killed too.
      if (!child.stderr || child.stderr.closed || signal !== null) settle();
      else child.stderr.on('close', settle);
    });
  });
}

function openPinned(path: string): number {
  const fd = openSync(path, O_PATH | constants.O_NOFOLLOW);
  if (readlinkSync(`/proc/self/fd/${fd}`) === path && !fstatSync(fd).isSymbolicLink()) return fd;
  closeSync(fd);
  throw new CannotStart(`${path} was moved away just now; nothing was started.`);
}

function identityOf(path: string): string {
  const pin = openPinned(path);
  try {
    const { dev, ino } = fstatSync(pin, { bigint: true });
    return `${dev}:${ino} `;
  } finally {
    closeSync(pin);
  }
}

/** Since 5.14 the processes of a user namespace are counted on their own. */
function countsByNamespace(kernel: string): boolean {
  const [major = 0, minor = 0] = kernel.split('.').map(Number);
  return major > 5 || (major === 5 && minor >= 14);
}

export function toCannotStart(error: unknown): CannotStart {
  return error instanceof CannotStart ? error : new CannotStart(`It could not be started: ${reasonOf(error)}`);
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
      return `the machine has no room for another process (${code}).`;
    default:
      return error instanceof Error ? error.message : String(error);
  }
}
