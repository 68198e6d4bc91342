import { randomBytes } from 'node:crypto';
import { constants as osConstants } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { limits } from '../protocol/limits.js';
import { scanAutorun } from './autorun/autorun-files.js';
import type { Confinement } from './port.js';
import { openOutputPipe } from './output-pipe.js';
import { CannotStart, createSpawner, releaseCommand, toCannotStart, waitForChildExit, type SpawnDeps } from './spawn.js';
import { machineBootId, readStat } from './process-table.js';
import { terminateNamespace, killTree, namespaceInit, signal, type ProcessTree } from './process-tree.js';
import { createResourceWatch, type CommandBounds, type Excess } from './resource-limits.js';
import type { Exit, Processes, RunningCommand, CommandSpec } from './port.js';

/** A process that a crash may orphan. */
export interface ProcessRow {
  pid: number;
  startTime: number;
  /** The boot that `startTime` counts from. */
  bootId: string;
  /** The value of `markerVariable` in the whole process tree. */
  marker: string;
  sessionId: string;
  runId: string;
  toolCallId: string;
}

export interface ProcessLedger {
  /** Throws when the row cannot be stored: no process runs that could not be reaped after a crash. */
  note(row: ProcessRow): void;
  forget(pid: number, startTime: number): void;
  /** Rows of earlier daemons. */
  left(): ProcessRow[];
}

export interface ProcessesDeps extends SpawnDeps {
  ledger: ProcessLedger;
  bounds(): CommandBounds;
  /** How long a command that is asked to end may take before it is killed. */
  killGraceMs?: number;
}

interface Running extends RunningCommand {
  sessionId: string;
  runId: string;
}

/** RLIMIT_NPROC is this many times the process limit, so that the resource watch, which can explain, acts first. */
const kernelLimitFactor = 2;

/** Starts commands, and kills them with their whole process tree. */
export function createProcesses({ ledger, bounds, killGraceMs = limits.killGraceMs, ...deps }: ProcessesDeps): Processes {
  const running = new Set<Running>();
  const runEndCallbacks = new Map<string, Set<() => Promise<void>>>();
  const bootId = machineBootId();
  const spawnCommand = createSpawner(deps);
  const watchProcess = createResourceWatch();

  async function start(spec: CommandSpec): Promise<RunningCommand> {
    const { confinement, autorunKind, command, cwd, sessionId, runId, toolCallId } = spec;
    const autorun = confinement.kind === 'sandbox' && autorunKind ? await scanAutorun(confinement.writable, autorunKind) : undefined;
    const marker = randomBytes(16).toString('hex');
    const commandBounds = bounds();
    const pipe = await openOutputPipe(spec.onOutput).catch((error: unknown) => {
      throw toCannotStart(error);
    });
    const nested = autorun?.readOnly.filter((path) => !confinement.readOnly.includes(path)) ?? [];
    const guarded: Confinement = { ...confinement, guarded: nested };
    const child = spawnCommand({
      command,
      cwd,
      confinement: guarded,
      marker,
      pipe,
      processesMax: commandBounds.processes * kernelLimitFactor,
    });
    const ended = waitForChildExit(child);
    const { pid } = child;
    if (pid === undefined) {
      pipe.stop();
      const { problem } = await ended;
      throw new CannotStart(problem ?? 'The command could not be started.');
    }
    const startTime = readStat(pid)?.startTime ?? 0;
    const tree: ProcessTree = { pid, startTime, marker, pipe: pipe.name };
    const namespaced = confinement.kind !== 'bare';
    let killing: Promise<void> | undefined;
    let excess: Excess | undefined;

    async function finish(): Promise<Exit> {
      const { problem, ...exit } = await ended;
      try {
        unwatch();
        // A killed bubblewrap takes its namespace with it, but not at once, and not at all during setup.
        if (!namespaced || exit.signal !== null) await killTree(tree, 0);
        pipe.drain();
        await pipe.ended;
        const newAutorun = (await autorun?.findNew()) ?? [];
        if (problem !== undefined) throw new CannotStart(problem);
        return { ...toShellExit(exit.code ?? signalCode(exit.signal)), newAutorun, excess };
      } finally {
        running.delete(handle);
        ledger.forget(tree.pid, startTime);
      }
    }

    async function kill(graceMs: number): Promise<void> {
      if (namespaced) await endNamespace(tree.pid, ended, graceMs);
      else await killTree(tree, graceMs);
      await handle.exited.catch(() => undefined);
    }

    const handle: Running = {
      id: marker,
      pid,
      sessionId,
      runId,
      readOnly: [...confinement.readOnly, ...nested],
      exited: Promise.resolve({ code: 0, signal: null, newAutorun: [], excess: undefined }),
      kill: () => (killing ??= kill(killGraceMs)),
    };
    try {
      ledger.note({ pid, startTime, bootId, marker, sessionId, runId, toolCallId });
    } catch (error) {
      child.kill('SIGKILL');
      await killTree(tree, 0);
      pipe.stop();
      throw error;
    }
    releaseCommand(child);
    running.add(handle);
    const unwatch = watchProcess({
      pid,
      startTime,
      namespaced,
      bounds: commandBounds,
      onExcess(found) {
        excess = found;
        // No grace period: a command over its limits could take even more.
        killing ??= kill(0);
        // Whoever awaits `kill` gets the error.
        killing.catch(() => undefined);
      },
    });
    handle.exited = finish();
    handle.exited.catch(() => undefined);
    return handle;
  }

  async function killMatching(which: (command: Running) => boolean): Promise<void> {
    await Promise.all([...running].filter(which).map((command) => command.kill()));
  }

  async function notifyRunEnd(runId: string): Promise<void> {
    const callbacks = [...(runEndCallbacks.get(runId) ?? [])];
    runEndCallbacks.delete(runId);
    await Promise.all(callbacks.map((callback) => callback()));
  }

  return {
    start,
    running: () => [...running],
    async killRun(runId) {
      await killMatching((command) => command.runId === runId);
      await notifyRunEnd(runId);
    },
    async killSession(sessionId) {
      const runs = new Set([...running].filter((command) => command.sessionId === sessionId).map(({ runId }) => runId));
      await killMatching((command) => command.sessionId === sessionId);
      for (const runId of runs) await notifyRunEnd(runId);
    },
    async killAll() {
      await killMatching(() => true);
      for (const runId of [...runEndCallbacks.keys()]) await notifyRunEnd(runId);
    },
    onRunEnd(runId, callback) {
      runEndCallbacks.set(runId, (runEndCallbacks.get(runId) ?? new Set()).add(callback));
    },
    async reapOrphans() {
      const faults: unknown[] = [];
      for (const { bootId: startedOn, pid, startTime, marker } of ledger.left()) {
        try {
          if (startedOn === bootId) await killTree({ pid, startTime, marker }, 0);
        } catch (fault) {
          faults.push(fault);
        }
        ledger.forget(pid, startTime);
      }
      return faults;
    },
  };
}

async function endNamespace(pid: number, ended: Promise<unknown>, graceMs: number): Promise<void> {
  const isOver = ended.then(() => true);
  const within = (ms: number): Promise<boolean> => Promise.race([isOver, wait(ms, false, { ref: false })]);
  const init = namespaceInit(pid);
  if (init !== undefined) {
    if (graceMs > 0) {
      terminateNamespace(init);
      if (await within(graceMs)) return;
    }
    signal(init, 'SIGKILL');
    if (await within(limits.killGraceMs)) return;
  }
  // No init process, or one that cannot be killed: it dies with bubblewrap (--die-with-parent).
  signal(pid, 'SIGKILL');
  await within(limits.killPatienceMs);
}

function signalCode(name: NodeJS.Signals | null): number {
  return 128 + (name === null ? 0 : osConstants.signals[name]);
}

function toShellExit(code: number): Pick<Exit, 'code' | 'signal'> {
  const found = Object.entries(osConstants.signals).find(([, number]) => number === code - 128);
  return { code, signal: found?.[0] ?? null };
}
