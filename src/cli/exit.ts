/** What the process ends with; the large numbers are those of sysexits.h. `asked` and `denied` are said by `berth permissions test` alone. */
export const exit = { ok: 0, refused: 1, asked: 3, denied: 4, usage: 64, noDaemon: 69, internal: 70 } as const;
export type ExitCode = (typeof exit)[keyof typeof exit];

/** What was asked for cannot be done now; the message is a sentence that says why and what to do. */
export class Refused extends Error {
  override name = 'Refused';
  /** What programs tell errors apart by, with `--json`: the code of the daemon's refusal where there was one. */
  readonly code: string;
  constructor(message: string, { code = 'refused', ...options }: ErrorOptions & { code?: string } = {}) {
    super(message, options);
    this.code = code;
  }
}

/** The command line makes no sense. */
export class WrongUsage extends Error {
  override name = 'WrongUsage';
}
