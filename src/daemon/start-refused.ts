import { classifyFault } from '../store/faults.js';

/** The daemon cannot start here and now; the message says why and what to do. */
export class StartRefused extends Error {
  override name = 'StartRefused';
  constructor(
    message: string,
    readonly code: 'already_running' | 'unsupported_system' | 'start_failed' = 'start_failed',
  ) {
    super(message);
  }
}

/** What a start that failed means to whoever asked for it. */
export interface FailedStart {
  /** For programs. */
  code: string;
  /** For people. */
  sentence: string;
  exitCode: 1 | 70;
}

/** `refusals` are the errors that say themselves what to do; other than these and the system's, an error is a bug. */
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
  if (fault === 'store_busy') return `another program holds the store in ${stateDir}; try again when it is done`;
  return error instanceof Error ? error.message : String(error);
}
