import { randomBytes } from 'node:crypto';
import { constants as osConstants } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { limits } from '../protocol/limits.js';
import { isHeld, nothingHeld, type HeldCode } from './late-code.js';
import type { LateCodeRecord } from './late-code-known.js';
import type { RunsLater } from './late-code-look.js';
import { createLateCodeWatches, holdLeftCode, type LateCodeWatch } from './late-code-watch.js';
import type { Confinement } from './port.js';
import { openOutputPipe, type TakeOutput } from './process-pipe.js';
import { CannotStart, createSpawner, toCannotStart, toEnded, type SpawnDeps } from './process-spawn.js';
import { machineBootId, readStat } from './process-table.js';
import { askToEnd, endFamily, namespaceInit, signal, type Family } from './process-tree.js';
import { createProcessWatch, type CommandBounds, type Excess } from './process-watch.js';

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
  /** What a crash keeps it from putting aside. */
  lateCode?: LateCodeRecord | undefined;
}

export interface ProcessLedger {
  /** Throws when it cannot be noted: nothing runs that a crash could not find again. */
  note(row: ProcessRow): void;
  /** The same row, with more in it. */
  amend(row: ProcessRow): void;
  forget(pid: number, startTime: number): void;
  /** Rows of earlier daemons. */
  left(): ProcessRow[];
}

export interface ProcessesDeps extends SpawnDeps {
  ledger: ProcessLedger;
  bounds(): CommandBounds;
}

export interface StartedCommand {
  command: string;
  /** A real path. */
  cwd: string;
  confinement: Confinement;
  /** Whether programs would run what is written to a path: existing ones are kept as they are, new ones are put aside. */
  runsLater?: RunsLater;
  sessionId: string;
  runId: string;
  toolCallId: string;
  onOutput: TakeOutput;
}

/** The way shells count: 128 and the number of the signal for what was ended by one. */
export interface Exit {
  code: number;
  signal: string | null;
  /** What it had made where programs would run it later. */
  held: HeldCode;
  /** Why it was ended before its time. */
  excess: Excess | undefined;
}

export interface RunningCommand {
  id: string;
  pid: number;
  /** Resolves when it has ended, its output is read and nothing that it started is left. Rejects when it could not be started. */
  exited: Promise<Exit>;
  /** Resolves when nothing of it is left. */
  kill(): Promise<void>;
}

interface Running extends RunningCommand {
  sessionId: string;
  runId: string;
}

/** The kernel stops what is faster than the watch, which can say why. */
const kernelRoom = 2;

/** What was put aside of a command that a crash had ended. */
export interface LeftCode {
  sessionId: string;
  runId: string;
  held: HeldCode;
  /** Why it could not be looked at. */
  fault?: unknown;
}

/** Starts commands, and ends them with everything that they have started. */
export function createProcesses({ ledger, bounds, ...deps }: ProcessesDeps) {
  const running = new Set<Running>();
  const farewells = new Map<string, Set<() => Promise<void>>>();
  const bootId = machineBootId();
  const spawnCommand = createSpawner(deps);
  const watchProcess = createProcessWatch();
  const lateCode = createLateCodeWatches();

  async function start(asked: StartedCommand): Promise<RunningCommand> {
    const { confinement, runsLater = () => false } = asked;
    const late =
      confinement.kind === 'sandbox' ? await lateCode.confine(confinement.writable, runsLater) : await lateCode.release(runsLater);
    try {
      return await startWatched(asked, late);
    } catch (error) {
      late.drop();
      throw error;
    }
  }

  async function startWatched(asked: StartedCommand, late: LateCodeWatch): Promise<RunningCommand> {
    const { confinement, command, cwd, sessionId, runId, toolCallId } = asked;
    const marker = randomBytes(16).toString('hex');
    const most = bounds();
    const pipe = await openOutputPipe(asked.onOutput).catch((error: unknown) => {
      throw toCannotStart(error);
    });
    const guarded = guard(confinement, late.paths());
    late.seal([...guarded.readOnly, ...(guarded.guarded ?? [])]);
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
    late.onMore(() => ledger.amend(row()));

    function row(): ProcessRow {
      return { pid: family.pid, startTime, bootId, marker, sessionId, runId, toolCallId, lateCode: late.record() };
    }

    async function finish(): Promise<Exit> {
      const { problem, ...exit } = await ended;
      try {
        unwatch();
        // Bubblewrap that was killed itself takes the namespace with it, but not at once, and not at all when it had only just begun.
        if (!namespaced || exit.signal !== null) await endFamily(family, 0);
        pipe.drain();
        await pipe.ended;
        const held = await late.end();
        if (problem !== undefined) throw new CannotStart(problem);
        return { ...toShellExit(exit.code ?? signalCode(exit.signal)), held, excess };
      } finally {
        late.drop();
        running.delete(handle);
        // Not before: what it left is put aside after a crash as well.
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
      exited: Promise.resolve({ code: 0, signal: null, held: nothingHeld, excess: undefined }),
      kill: () => (killing ??= kill(limits.killGraceMs)),
    };
    try {
      ledger.note(row());
    } catch (error) {
      child.kill('SIGKILL');
      await endFamily(family, 0);
      pipe.stop();
      await late.end();
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
    /** A file is about to be written that a person has approved, and that programs would run. */
    approve: lateCode.approve,
    /**
     * At boot: ends what earlier daemons have left, and puts aside what they could not any more. A stranger that has the pid by now is not
     * touched. What goes wrong with one of them is told, and keeps nobody from starting.
     */
    async reapLeft(runsLaterIn: (roots: readonly string[]) => RunsLater): Promise<LeftCode[]> {
      const found: LeftCode[] = [];
      for (const { bootId: startedOn, pid, startTime, marker, sessionId, runId, lateCode: record } of ledger.left()) {
        try {
          if (startedOn === bootId) await endFamily({ pid, startTime, marker }, 0);
          const held = record ? await holdLeftCode(record, runsLaterIn(record.roots)) : nothingHeld;
          if (isHeld(held)) found.push({ sessionId, runId, held });
        } catch (fault) {
          found.push({ sessionId, runId, held: nothingHeld, fault });
        }
        ledger.forget(pid, startTime);
      }
      return found;
    },
  };
}
export type Processes = ReturnType<typeof createProcesses>;

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

/** Existing code that runs later is read-only. A repository stays where it is; other directories may be moved with what is in them. */
function guard(confinement: Confinement, late: readonly string[]): Confinement {
  const some = late.filter((path) => !confinement.readOnly.includes(path)).slice(0, limits.lateCodePathsMax);
  const isOfGit = (path: string): boolean => path.includes('/.git/');
  return {
    ...confinement,
    readOnly: [...confinement.readOnly, ...some.filter(isOfGit)],
    guarded: some.filter((path) => !isOfGit(path)),
  };
}

function signalCode(name: NodeJS.Signals | null): number {
  return 128 + (name === null ? 0 : osConstants.signals[name]);
}

function toShellExit(code: number): Pick<Exit, 'code' | 'signal'> {
  const found = Object.entries(osConstants.signals).find(([, number]) => number === code - 128);
  return { code, signal: found?.[0] ?? null };
}
