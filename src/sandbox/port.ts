import type { AutorunKindOf } from './autorun/autorun-files.js';
import type { TakeOutput } from './output-pipe.js';
import type { Excess } from './resource-limits.js';

/** How children of a call are started. Every path is a real one. */
export interface Confinement {
  /**
   * `sandbox`: read-only root, only `writable` can be written. `namespace`: the whole machine, but processes of its own that die together.
   * `bare`: there is no bubblewrap on this machine.
   */
  kind: 'sandbox' | 'namespace' | 'bare';
  network: boolean;
  /** Roots that may be written. */
  writable: string[];
  /** The same; nothing in them is run by its name, so that they are not searched for such files. */
  gitWritable?: string[];
  /** Paths below them that may not be. */
  readOnly: string[];
  /** The same, but what they are in may be moved. */
  guarded?: string[];
  /** Paths that are covered up: secrets, and what belongs to berth. */
  hidden: string[];
}

/** A command that is to be started. */
export interface StartedCommand {
  command: string;
  /** A real path. */
  cwd: string;
  confinement: Confinement;
  /** In the sandbox, existing files of these are read-only, and new ones are told. */
  autorunKind?: AutorunKindOf;
  sessionId: string;
  runId: string;
  toolCallId: string;
  onOutput: TakeOutput;
}

/** The way shells count: 128 and the number of the signal for what was ended by one. */
export interface Exit {
  code: number;
  signal: string | null;
  /** New or changed files that programs run or agents follow later. */
  newAutorun: string[];
  /** Why it was ended before its time. */
  excess: Excess | undefined;
}

/** A command that was started. */
export interface RunningCommand {
  id: string;
  pid: number;
  /** Paths below its writable ones that it cannot write. */
  readOnly: readonly string[];
  /** Resolves when it has ended, its output is read and nothing that it started is left. Rejects when it could not be started. */
  exited: Promise<Exit>;
  /** Resolves when nothing of it is left. */
  kill(): Promise<void>;
}

/**
 * Starts programs for tools, ours or those of others. Whatever is started is confined, is in the ledger that a crash leaves to the next
 * daemon, and is ended with everything that it has started.
 */
export interface Processes {
  start(asked: StartedCommand): Promise<RunningCommand>;
  running(): readonly RunningCommand[];
  /** Ends what a run has started. Called when the run ends. */
  killRun(runId: string): Promise<void>;
  killSession(sessionId: string): Promise<void>;
  killAll(): Promise<void>;
  /** Calls back once, when `killRun` was told that the run is over. */
  onRunEnd(runId: string, tell: () => Promise<void>): void;
  /**
   * At boot: ends what earlier daemons have left. A stranger that has the pid by now is not touched. Returns what went wrong, which keeps
   * nobody from starting.
   */
  reapLeft(): Promise<unknown[]>;
}
