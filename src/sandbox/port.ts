import type { AutorunKindOf } from './autorun/autorun-files.js';
import type { TakeOutput } from './output-pipe.js';
import type { Excess } from './resource-limits.js';

/** How the processes of a call are confined. Every path is a real path. */
export interface Confinement {
  /**
   * `sandbox`: a read-only root file system, in which only `writable` can be written. `namespace`: all of the file system, and a pid namespace
   * that is killed as a whole. `bare`: there is no bubblewrap on this machine.
   */
  kind: 'sandbox' | 'namespace' | 'bare';
  network: boolean;
  /** Directories that may be written. */
  writable: string[];
  /** Git directories that may be written. They are not scanned for autorun files. */
  gitWritable?: string[];
  /** Paths below the writable ones that may not be written, nor moved with their parent directory. */
  readOnly: string[];
  /** Paths below the writable ones that may not be written, but moved with their parent directory. */
  guarded?: string[];
  /** Paths that are masked: secrets, and berth's own files. */
  hidden: string[];
}

/** A command to start. */
export interface CommandSpec {
  command: string;
  /** A real path. */
  cwd: string;
  confinement: Confinement;
  /** In the sandbox, existing autorun files are read-only, and new ones are reported. */
  autorunKind?: AutorunKindOf;
  sessionId: string;
  runId: string;
  toolCallId: string;
  onOutput: TakeOutput;
}

/** An exit code as shells count it: 128 plus the signal number for a killed process. */
export interface Exit {
  code: number;
  signal: string | null;
  /** New or changed autorun files, which programs run or agents follow later. */
  newAutorun: string[];
  /** The resource limit that the command was killed for. */
  excess: Excess | undefined;
}

/** A handle of a started command. */
export interface RunningCommand {
  id: string;
  pid: number;
  /** Paths below the writable ones that are read-only for the command. */
  readOnly: readonly string[];
  /** Resolves when the command has ended, its output is read and its process tree is gone. Rejects when the command could not be started. */
  exited: Promise<Exit>;
  /** Resolves when the process tree is gone. */
  kill(): Promise<void>;
}

/**
 * Starts commands for tools, built-in or external. Every command is confined, is recorded in the process ledger, from which the next daemon
 * reaps orphans after a crash, and is killed with its whole process tree.
 */
export interface Processes {
  start(spec: CommandSpec): Promise<RunningCommand>;
  running(): readonly RunningCommand[];
  /** Kills the commands of a run. Called when the run ends. */
  killRun(runId: string): Promise<void>;
  killSession(sessionId: string): Promise<void>;
  killAll(): Promise<void>;
  /** Calls back once, after `killRun` for this run. */
  onRunEnd(runId: string, callback: () => Promise<void>): void;
  /**
   * At boot: kills orphans of earlier daemons. A recycled pid is recognised by its start time and not touched. Returns the errors, which do not
   * prevent the start.
   */
  reapOrphans(): Promise<unknown[]>;
}
