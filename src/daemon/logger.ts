import { pino, type Logger } from 'pino';

export type { Logger };

const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];

/** Writes JSON lines to the log file. A write error, such as ENOSPC, never stops the daemon. */
export function createLogger(file: string, level: string | undefined): Logger {
  const destination = pino.destination({ dest: file, sync: true, append: true, mode: 0o600 });
  // There is no other place to report that the log file cannot be written.
  destination.on('error', () => undefined);
  return pino({ level: level !== undefined && levels.includes(level) ? level : 'info', base: { pid: process.pid } }, destination);
}
