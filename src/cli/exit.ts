/**
 * Exit codes; 64 to 70 are those of sysexits.h, 124 is that of timeout(1), and 130 that of a shell for SIGINT. `asked`, `aborted` and
 * `interrupted` are for `berth run`, `asked` and `denied` for `berth permissions test`.
 */
export const exit = {
  ok: 0,
  refused: 1,
  asked: 3,
  denied: 4,
  aborted: 5,
  interrupted: 6,
  usage: 64,
  noDaemon: 69,
  internal: 70,
  timeout: 124,
  detached: 130,
} as const;
export type ExitCode = (typeof exit)[keyof typeof exit];

/** A refused command; the message says why and what to do. */
export class Refused extends Error {
  override name = 'Refused';
  /** The error code for `--json`: that of the daemon's refusal, if there was one. */
  readonly code: string;
  constructor(message: string, { code = 'refused', ...options }: ErrorOptions & { code?: string } = {}) {
    super(message, options);
    this.code = code;
  }
}

/** An invalid command line. */
export class WrongUsage extends Error {
  override name = 'WrongUsage';
}
