import { pino, type Logger } from 'pino';

export type { Logger };

const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];

/** Writes JSON lines to a file. A log that cannot be written never stops the daemon. */
export function createLogger(file: string, level: string | undefined): Logger {
  const destination = pino.destination({ dest: file, sync: true, append: true, mode: 0o600 });
  // A full disk or a vanished directory: there is nowhere left to say so.
  destination.on('error', () => undefined);
  return pino({ level: level !== undefined && levels.includes(level) ? level : 'info', base: { pid: process.pid } }, destination);
}
