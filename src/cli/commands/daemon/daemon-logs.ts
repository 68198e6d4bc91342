import { closeSync } from 'node:fs';
import { logPath } from '../../../machine/log-files.js';
import { limits } from '../../../protocol/limits.js';
import { printableLine } from '../../../view/printable.js';
import { exit } from '../../exit.js';
import { shortenHome } from '../../home-path.js';
import { readCount, type Subcommand } from '../../subcommand.js';
import { followLog, readNewestLines } from './log-reader.js';

interface Args {
  lines?: string;
  follow?: true;
  json?: true;
}

const day = 24 * 3600 * 1000;
const levels: Record<number, string> = { 10: 'trace', 20: 'debug', 30: 'info', 40: 'warn', 50: 'error', 60: 'fatal' };

export const daemonLogs: Subcommand = {
  usage: 'daemon logs',
  hosts: 'refused',
  summary: 'Print the newest lines of the log of the daemon, which need not run.',
  options: {
    '-n, --lines <n>': `so many lines (default: ${limits.logLinesDefault})`,
    '-f, --follow': 'go on with what is logged from now on, until Ctrl-C',
    '--json': 'print the lines as they are in the file: JSON',
  },
  notes:
    'BERTH_LOG_LEVEL=debug in the environment of the daemon logs every event, without its words; berth daemon status says where the file is.\n' +
    `At ${limits.logFileBytesMax / 1024 / 1024} MiB or after ${limits.logFileAgeMs / day} days it is rotated to berth.log.1; ${limits.olderLogFilesMax} older ones are kept, for at most ${limits.olderLogAgeMs / day} days.`,
  examples: {
    'berth daemon logs -n 200': 'the newest 200 lines',
    'berth daemon logs -f': 'and what follows',
  },
  run({ lines, follow, json }: Args, cli) {
    const count = lines === undefined ? limits.logLinesDefault : readCount('--lines', lines, 0);
    const path = logPath(cli.paths.stateDir);
    const show = (line: string): void => cli.print(json ? line : describeLine(line));
    const { lines: newest, ...end } = readNewestLines(path, count);
    newest.forEach(show);
    if (follow && !json) cli.notice(`following ${printableLine(shortenHome(path))}; Ctrl-C ends it`);
    if (follow) return followLog(path, end, show);
    closeSync(end.descriptor);
    return Promise.resolve(exit.ok);
  },
};

/** Formats a log line for people: time, level, message and other fields. */
function describeLine(line: string): string {
  const entry = toEntry(line);
  if (!entry) return printableLine(line);
  const { time, level, msg, pid: _pid, ...rest } = entry;
  const at = typeof time === 'number' && Number.isFinite(time) ? new Date(time).toISOString() : '';
  const more = Object.entries(rest).map(([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  return printableLine([at, levels[Number(level)] ?? '', typeof msg === 'string' ? msg : '', ...more].join(' ').trim());
}

function toEntry(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
