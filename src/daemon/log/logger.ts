import { pino, type Logger } from 'pino';
import { wholeUnits } from '../../protocol/content.js';
import { limits } from '../../protocol/limits.js';
import { scrub } from '../../providers/secrets.js';
import { createLogFile } from './log-file.js';

export type { Logger };

const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];

interface Options {
  /** `BERTH_LOG_LEVEL`. */
  level: string | undefined;
  /** What must not be logged: keys and values of headers. */
  secrets(): readonly string[];
  now?: () => number;
}

/** Writes JSON lines to the log file, which is rotated. Secrets are redacted, long texts cut. A write error, such as ENOSPC, never stops the daemon. */
export function createLogger(file: string, { level, secrets, now = Date.now }: Options): Logger {
  const logFile = createLogFile(file, now);
  const write = (line: string): void => logFile.write(`${toPublicLine(line, secrets())}\n`);
  return pino({ level: level !== undefined && levels.includes(level) ? level : 'info', base: { pid: process.pid } }, { write });
}

/** Redacts in the texts, not in the line, in which JSON may have escaped a secret. */
function toPublicLine(line: string, secrets: readonly string[]): string {
  return JSON.stringify(JSON.parse(line), (_, value: unknown) => (typeof value === 'string' ? cut(scrub(value, secrets)) : value));
}

function cut(text: string): string {
  return text.length <= limits.loggedTextCharsMax ? text : `${text.slice(0, wholeUnits(text, limits.loggedTextCharsMax))}…`;
}
