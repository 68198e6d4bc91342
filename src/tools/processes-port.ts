import type { AutorunKindOf } from './autorun-files.js';
import type { Confinement } from './port.js';
import type { TakeOutput } from './process-pipe.js';
import type { Excess } from './process-watch.js';

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
