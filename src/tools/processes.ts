import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, constants, openSync, readlinkSync } from 'node:fs';
import { constants as osConstants, release } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { limits } from '../protocol/limits.js';
import { toBubblewrapArgs, type BubblewrapFound } from './bubblewrap.js';
import { findLateCode, holdLateCode } from './late-code.js';
import type { Confinement } from './port.js';
import { toChildEnv } from './process-env.js';
import { openOutputPipe, type OutputPipe, type TakeOutput } from './process-pipe.js';
import { systemProgram } from './process-programs.js';
import { machineBootId, readStat } from './process-table.js';
import { askToEnd, endFamily, markerVariable, namespaceInit, signal, watermarkOf, type Family } from './process-tree.js';

/** A child that a crash may leave behind. */
export interface ProcessRow {
  pid: number;
  startTime: number;
  /** Which start of the machine the start time counts from. */
  bootId: string;
  /** What all its descendants carry. */
  marker: string;
  sessionId: string;
  runId: string;
  toolCallId: string;
}

export interface ProcessLedger {
  note(row: ProcessRow): void;
  forget(pid: number, startTime: number): void;
  /** Rows of earlier daemons. */
  left(): ProcessRow[];
}

export interface ProcessesDeps {
  ledger: ProcessLedger;
  bubblewrap: () => BubblewrapFound;
  /** The daemon's. */
  env: Record<string, string | undefined>;
  home: string;
  /** The person's; the daemon's own is stricter. */
  umask?: number;
}

export interface StartedCommand {
  command: string;
  /** A real path. */
  cwd: string;
  confinement: Confinement;
  /** Whether programs would run what is written to a path: existing ones are kept as they are, new ones are put aside. */
  runsLater?: (path: string) => boolean;
  sessionId: string;
  runId: string;
  toolCallId: string;
  onOutput: TakeOutput;
}

/** The way shells count: 128 and the number of the signal for what was ended by one. */
export interface Exit {
  code: number;
  signal: string | null;
  /** What it had made where programs would run it later, and is called now. */
  held: string[];
}

export interface RunningCommand {
  id: string;
  pid: number;
  /** Resolves when it has ended, its output is read and nothing that it started is left. Rejects when it could not be started. */
  exited: Promise<Exit>;
  /** Resolves when nothing of it is left. */
  kill(): Promise<void>;
}

/** Why a command could not be started at all. */
export class CannotStart extends Error {}

interface Running extends RunningCommand {
  sessionId: string;
  runId: string;
}

/**
 * What keeps a command from hurting others, where there are no control groups: core files are off, the kernel takes memory from it
 * first, others have the processor before it, /tmp and /dev/shm are bounded (see bubblewrap.ts), and in a user namespace its processes
 * are counted (the kernel does not count those of root, and before 5.14 counts all of a person's). There is no bound of memory: node and
 * java reserve far more addresses than they use. Files that it writes to the workspace are bounded by the disk alone.
 */
const prelude = [
  'exec 2>/dev/null',
  'umask "$4"',
  'ulimit -c 0',
  '[ "$1" = - ] || ulimit -u "$1"',
  '[ "$2" = - ] || { ulimit -S -i "$2"; ulimit -S -q "$3"; }',
  'echo 1000 >/proc/self/oom_score_adj',
  // Whoever started the daemon may have left descriptors open. Other shells cannot close those beyond 9.
  'for fd in /proc/self/fd/*; do fd=${fd##*/}; [ "$fd" -gt 2 ] && [ -n "$BASH" -o "$fd" -lt 10 ] && eval "exec $fd>&-"; done',
  'shift 4',
];
/** The first process of a namespace stays, collects orphans and tells how the command ended. */
const preludes = { init: [...prelude, '( exec "$@" 2>&1 )', 'exit $?'].join('\n'), bare: [...prelude, 'exec "$@" 2>&1'].join('\n') };

/** Starts commands, and ends them with everything that they have started. */
export function createProcesses({ ledger, bubblewrap, env, home, umask = 0o022 }: ProcessesDeps) {
  const running = new Set<Running>();
  const farewells = new Map<string, Set<() => Promise<void>>>();
  const bootId = machineBootId();
  const countsProcesses = process.getuid?.() !== 0 && countsByNamespace(release());

  function spawnCommand(spec: StartedCommand, marker: string, pipe: OutputPipe): ChildProcess {
    const { command, cwd, confinement } = spec;
    const bash = systemProgram('bash');
    const shell = bash ?? '/bin/sh';
    const nice = systemProgram('nice');
    const bare = confinement.kind === 'bare';
    // Only bash can set these two.
    const watermark = bash === undefined ? undefined : watermarkOf(marker);
    const argv = [
      ...[shell, '-c', bare ? preludes.bare : preludes.init, 'berth'],
      countsProcesses && confinement.kind === 'sandbox' ? String(limits.commandProcessesMax) : '-',
      ...(watermark ? [String(watermark.pendingSignals), String(watermark.queueBytes)] : ['-', '-']),
      umask.toString(8).padStart(4, '0'),
      ...(nice === undefined ? [] : [nice, '-n', '5']),
      ...[shell, '-c', command],
    ];
    const options = { detached: true, env: { ...toChildEnv(env, { home, cwd, confinement }), [markerVariable]: marker } };
    if (bare) return spawn(shell, argv.slice(1), { ...options, cwd, stdio: ['ignore', pipe.writeEnd, pipe.writeEnd] });
    const found = bubblewrap();
    if ('missing' in found) throw new CannotStart(`There is no sandbox to run it in: ${found.missing}`);
    const { args, pinned } = toBubblewrapArgs(confinement, { cwd, bubblewrap: found });
    const pins = pinned.map(openPinned);
    try {
      return spawn(found.path, [...args, '--', ...argv], { ...options, cwd: '/', stdio: ['ignore', pipe.writeEnd, 'pipe', ...pins] });
    } finally {
      for (const pin of pins) closeSync(pin);
    }
  }

  async function start(asked: StartedCommand): Promise<RunningCommand> {
    const { runsLater = () => false } = asked;
    const watched = asked.confinement.kind === 'sandbox' && asked.runsLater ? asked.confinement.writable : [];
    const late = await findLateCode(watched, runsLater);
    const spec = { ...asked, confinement: guard(asked.confinement, late) };
    const marker = randomBytes(16).toString('hex');
    const pipe = await openOutputPipe(spec.onOutput).catch((error: unknown) => {
      throw new CannotStart(`It could not be started: ${reasonOf(error)}`);
    });
    const { sessionId, runId, toolCallId } = spec;
    let child: ChildProcess;
    try {
      child = spawnCommand(spec, marker, pipe);
    } catch (error) {
      pipe.stop();
      throw error instanceof CannotStart ? error : new CannotStart(`It could not be started: ${reasonOf(error)}`);
    } finally {
      pipe.closeWriteEnd();
    }
    const ended = toEnded(child);
    const { pid } = child;
    if (pid === undefined) {
      pipe.stop();
      const { problem } = await ended;
      throw new CannotStart(problem ?? 'It could not be started.');
    }
    const startTime = readStat(pid)?.startTime ?? 0;
    const family: Family = { pid, startTime, marker, pipe: pipe.name };
    const namespaced = spec.confinement.kind !== 'bare';
    let killing: Promise<void> | undefined;

    async function finish(): Promise<Exit> {
      const { problem, ...exit } = await ended;
      // Bubblewrap that was killed itself takes the namespace with it, but not at once, and not at all when it had only just begun.
      if (!namespaced || exit.signal !== null) await endFamily(family, 0);
      pipe.drain();
      await pipe.ended;
      ledger.forget(family.pid, startTime);
      running.delete(handle);
      if (problem !== undefined) throw new CannotStart(problem);
      const held = await holdLateCode(late, await findLateCode(watched, runsLater));
      return { ...toShellExit(exit.code ?? signalCode(exit.signal)), held };
    }

    async function kill(): Promise<void> {
      if (namespaced) await endNamespace(family.pid, ended);
      else await endFamily(family, limits.killGraceMs);
      await handle.exited.catch(() => undefined);
    }

    const handle: Running = {
      id: marker,
      pid,
      sessionId,
      runId,
      exited: Promise.resolve({ code: 0, signal: null, held: [] }),
      kill: () => (killing ??= kill()),
    };
    try {
      ledger.note({ pid, startTime, bootId, marker, sessionId, runId, toolCallId });
    } catch (error) {
      child.kill('SIGKILL');
      await endFamily(family, 0);
      pipe.stop();
      throw error;
    }
    running.add(handle);
    handle.exited = finish();
    handle.exited.catch(() => undefined);
    return handle;
  }

  async function killThose(which: (command: Running) => boolean): Promise<void> {
    await Promise.all([...running].filter(which).map((command) => command.kill()));
  }

  async function sayFarewell(runId: string): Promise<void> {
    const told = [...(farewells.get(runId) ?? [])];
    farewells.delete(runId);
    await Promise.all(told.map((tell) => tell()));
  }

  return {
    start,
    running: (): readonly RunningCommand[] => [...running],
    /** Ends what a run has started. Called when the run ends. */
    async killRun(runId: string): Promise<void> {
      await killThose((command) => command.runId === runId);
      await sayFarewell(runId);
    },
    async killSession(sessionId: string): Promise<void> {
      const runs = new Set([...running].filter((command) => command.sessionId === sessionId).map(({ runId }) => runId));
      await killThose((command) => command.sessionId === sessionId);
      for (const runId of runs) await sayFarewell(runId);
    },
    async killAll(): Promise<void> {
      await killThose(() => true);
      for (const runId of [...farewells.keys()]) await sayFarewell(runId);
    },
    /** Calls back once, when `killRun` was told that the run is over. */
    onRunEnd(runId: string, tell: () => Promise<void>): void {
      farewells.set(runId, (farewells.get(runId) ?? new Set()).add(tell));
    },
    /** At boot: ends what earlier daemons have left. A stranger that has the pid by now is not touched. */
    async reapLeft(): Promise<void> {
      for (const { bootId: startedOn, pid, startTime, marker } of ledger.left()) {
        if (startedOn === bootId) await endFamily({ pid, startTime, marker }, 0);
        ledger.forget(pid, startTime);
      }
    },
  };
}
export type Processes = ReturnType<typeof createProcesses>;

interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  /** Why nothing was started. */
  problem: string | undefined;
}

function toEnded(child: ChildProcess): Promise<Ended> {
  let complaint = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (complaint = (complaint + text).slice(0, limits.errorTextCharsMax)));
  return new Promise((resolve) => {
    child.on('error', (error) => resolve({ code: null, signal: null, problem: `It could not be started: ${reasonOf(error)}` }));
    child.on('exit', (code, signalName) => {
      const settle = (): void =>
        resolve({
          code,
          signal: signalName,
          problem: complaint === '' ? undefined : `The sandbox could not be set up: ${complaint.trim()}`,
        });
      // Only bubblewrap itself has this pipe, and it says something only when it fails.
      if (!child.stderr || child.stderr.closed) settle();
      else child.stderr.on('close', settle);
    });
  });
}

async function endNamespace(pid: number, ended: Promise<unknown>): Promise<void> {
  const isOver = ended.then(() => true);
  const within = (ms: number): Promise<boolean> => Promise.race([isOver, wait(ms, false, { ref: false })]);
  const init = namespaceInit(pid);
  if (init !== undefined) {
    askToEnd(init);
    if (await within(limits.killGraceMs)) return;
    signal(init, 'SIGKILL');
    if (await within(limits.killGraceMs)) return;
  }
  // Without its first process, or with one that cannot be killed: it dies with its parent.
  signal(pid, 'SIGKILL');
  await within(limits.killPatienceMs);
}

/** Existing code that runs later is read-only. A repository stays where it is; other directories may be moved with what is in them. */
function guard(confinement: Confinement, late: ReadonlySet<string>): Confinement {
  const some = [...late].filter((path) => !confinement.readOnly.includes(path)).slice(0, limits.lateCodePathsMax);
  const isOfGit = (path: string): boolean => path.includes('/.git/');
  return {
    ...confinement,
    readOnly: [...confinement.readOnly, ...some.filter(isOfGit)],
    guarded: some.filter((path) => !isOfGit(path)),
  };
}

function openPinned(path: string): number {
  const fd = openSync(path, constants.O_DIRECTORY | constants.O_NOFOLLOW | constants.O_RDONLY);
  if (readlinkSync(`/proc/self/fd/${fd}`) === path) return fd;
  closeSync(fd);
  throw new CannotStart(`${path} was moved away just now; nothing was started.`);
}

/** Since 5.14 the processes of a user namespace are counted on their own. */
function countsByNamespace(kernel: string): boolean {
  const [major = 0, minor = 0] = kernel.split('.').map(Number);
  return major > 5 || (major === 5 && minor >= 14);
}

function signalCode(name: NodeJS.Signals | null): number {
  return 128 + (name === null ? 0 : osConstants.signals[name]);
}

function toShellExit(code: number): Omit<Exit, 'held'> {
  const found = Object.entries(osConstants.signals).find(([, number]) => number === code - 128);
  return { code, signal: found?.[0] ?? null };
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
