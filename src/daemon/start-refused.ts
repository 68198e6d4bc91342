import { classifyFault } from '../store/faults.js';

/** The daemon cannot start; the message names cause and remedy. */
export class StartRefused extends Error {
  override name = 'StartRefused';
  constructor(
    message: string,
    readonly code: 'already_running' | 'unsupported_system' | 'start_failed' = 'start_failed',
  ) {
    super(message);
  }
}

/** Why a state directory cannot be used. */
export function cannotKeep(stateDir: string, code: string): string {
  return `nothing can be kept in ${stateDir} (${code}): make it a directory that you may write to, or name another with BERTH_STATE_DIR`;
}

/** A failed start, as the caller reports it. */
export interface FailedStart {
  /** The error code, for programs. */
  code: string;
  /** Cause and remedy, for people. */
  sentence: string;
  exitCode: 1 | 70;
}

/** `refusals` are errors with a remedy in their message. Any other error, but for those of system calls, is a bug. */
export function toFailedStart(error: unknown, stateDir: string, refusals: readonly (new (message: string) => Error)[]): FailedStart {
  const fault = classifyFault(error);
  const isRefusal =
    (error instanceof Error && 'syscall' in error) ||
    fault === 'storage_full' ||
    fault === 'store_busy' ||
    [StartRefused, ...refusals].some((kind) => error instanceof kind);
  return {
    code: error instanceof StartRefused ? error.code : 'start_failed',
    sentence: toSentence(error, stateDir),
    exitCode: isRefusal ? 1 : 70,
  };
}

function toSentence(error: unknown, stateDir: string): string {
  const fault = classifyFault(error);
  if (fault === 'storage_full') return `the disk that holds ${stateDir} is full; free some space and start again`;
  if (fault === 'store_busy')
    return `another program holds a lock on the database in ${stateDir} (SQLITE_BUSY); end it, or try again when it is done`;
  return error instanceof Error ? error.message : String(error);
}
