import { randomBytes } from 'node:crypto';
import { constants as osConstants } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { limits } from '../protocol/limits.js';
import { lookForAutorun } from './autorun/autorun-files.js';
import type { Confinement } from './port.js';
import { openOutputPipe } from './output-pipe.js';
import { CannotStart, createSpawner, toCannotStart, toEnded, type SpawnDeps } from './spawn.js';
import { machineBootId, readStat } from './process-table.js';
import { askToEnd, endFamily, namespaceInit, signal, type Family } from './process-tree.js';
import { createResourceWatch, type CommandBounds, type Excess } from './resource-limits.js';
import type { Exit, Processes, RunningCommand, StartedCommand } from './port.js';

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
  /** Throws when it cannot be noted: nothing runs that a crash could not find again. */
  note(row: ProcessRow): void;
  forget(pid: number, startTime: number): void;
  /** Rows of earlier daemons. */
  left(): ProcessRow[];
}

export interface ProcessesDeps extends SpawnDeps {
  ledger: ProcessLedger;
  bounds(): CommandBounds;
}

interface Running extends RunningCommand {
  sessionId: string;
  runId: string;
}

/** The kernel stops what is faster than the watch, which can say why. */
const kernelRoom = 2;

/** Starts commands, and ends them with everything that they have started. */
export function createProcesses({ ledger, bounds, ...deps }: ProcessesDeps): Processes {
  const running = new Set<Running>();
  const farewells = new Map<string, Set<() => Promise<void>>>();
  const bootId = machineBootId();
  const spawnCommand = createSpawner(deps);
  const watchProcess = createResourceWatch();

  async function start(asked: StartedCommand): Promise<RunningCommand> {
    const { confinement, autorunKind, command, cwd, sessionId, runId, toolCallId } = asked;
    const autorun = confinement.kind === 'sandbox' && autorunKind ? await lookForAutorun(confinement.writable, autorunKind) : undefined;
    const marker = randomBytes(16).toString('hex');
    const most = bounds();
    const pipe = await openOutputPipe(asked.onOutput).catch((error: unknown) => {
      throw toCannotStart(error);
    });
    const nested = autorun?.readOnly.filter((path) => !confinement.readOnly.includes(path)) ?? [];
    const guarded: Confinement = { ...confinement, guarded: nested };
    const child = spawnCommand({ command, cwd, confinement: guarded, marker, pipe, processesMax: most.processes * kernelRoom });
    const ended = toEnded(child);
    const { pid } = child;
    if (pid === undefined) {
      pipe.stop();
      const { problem } = await ended;
      throw new CannotStart(problem ?? 'It could not be started.');
    }
    const startTime = readStat(pid)?.startTime ?? 0;
    const family: Family = { pid, startTime, marker, pipe: pipe.name };
    const namespaced = confinement.kind !== 'bare';
    let killing: Promise<void> | undefined;
    let excess: Excess | undefined;

    async function finish(): Promise<Exit> {
      const { problem, ...exit } = await ended;
      try {
        unwatch();
        // Bubblewrap that was killed itself takes the namespace with it, but not at once, and not at all when it had only just begun.
        if (!namespaced || exit.signal !== null) await endFamily(family, 0);
        pipe.drain();
        await pipe.ended;
        const newAutorun = (await autorun?.findNew()) ?? [];
        if (problem !== undefined) throw new CannotStart(problem);
        return { ...toShellExit(exit.code ?? signalCode(exit.signal)), newAutorun, excess };
      } finally {
        running.delete(handle);
        ledger.forget(family.pid, startTime);
      }
    }

    async function kill(graceMs: number): Promise<void> {
      if (namespaced) await endNamespace(family.pid, ended, graceMs);
      else await endFamily(family, graceMs);
      await handle.exited.catch(() => undefined);
    }

    const handle: Running = {
      id: marker,
      pid,
      sessionId,
      runId,
      readOnly: [...confinement.readOnly, ...nested],
      exited: Promise.resolve({ code: 0, signal: null, newAutorun: [], excess: undefined }),
      kill: () => (killing ??= kill(limits.killGraceMs)),
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
    const unwatch = watchProcess({
      pid,
      startTime,
      namespaced,
      bounds: most,
      onExcess(found) {
        excess = found;
        // Whoever takes all there is gets no time to take more.
        killing ??= kill(0);
        // A fault of it is heard by whoever asks for its end.
        killing.catch(() => undefined);
      },
    });
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
    running: () => [...running],
    async killRun(runId) {
      await killThose((command) => command.runId === runId);
      await sayFarewell(runId);
    },
    async killSession(sessionId) {
      const runs = new Set([...running].filter((command) => command.sessionId === sessionId).map(({ runId }) => runId));
      await killThose((command) => command.sessionId === sessionId);
      for (const runId of runs) await sayFarewell(runId);
    },
    async killAll() {
      await killThose(() => true);
      for (const runId of [...farewells.keys()]) await sayFarewell(runId);
    },
    onRunEnd(runId, tell) {
      farewells.set(runId, (farewells.get(runId) ?? new Set()).add(tell));
    },
    async reapLeft() {
      const faults: unknown[] = [];
      for (const { bootId: startedOn, pid, startTime, marker } of ledger.left()) {
        try {
          if (startedOn === bootId) await endFamily({ pid, startTime, marker }, 0);
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
      askToEnd(init);
      if (await within(graceMs)) return;
    }
    signal(init, 'SIGKILL');
    if (await within(limits.killGraceMs)) return;
  }
  // Without its first process, or with one that cannot be killed: it dies with its parent.
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
