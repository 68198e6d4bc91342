export type Level = 'ok' | 'warn' | 'fail';

/** What one check found: a line of `berth doctor`. */
export interface Finding {
  level: Level;
  /** What was looked at, in a word or two. */
  area: string;
  detail: string;
  /** The command, or the line of a file, that mends it. */
  fix?: string;
  /** Mends it without harm to anything else: what `--fix` runs. */
  mend?: () => void;
}

export const ok = (area: string, detail: string): Finding => ({ level: 'ok', area, detail });
export const warn = (area: string, detail: string, fix?: string): Finding => ({ level: 'warn', area, detail, ...(fix ? { fix } : {}) });
export const fail = (area: string, detail: string, fix?: string): Finding => ({ level: 'fail', area, detail, ...(fix ? { fix } : {}) });
