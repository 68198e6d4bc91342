import { closeSync, fstatSync, openSync, readSync, watch } from 'node:fs';
import { dirname, join } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { limits } from '../../../protocol/limits.js';
import { printableLine } from '../../../view/printable.js';
import { exit, Refused, type ExitCode } from '../../exit.js';
import { shortenHome } from '../../home-path.js';
import { readCount, type Subcommand } from '../../subcommand.js';

interface Args {
  lines?: string;
  follow?: true;
  json?: true;
}

const tuning = { chunkBytes: 64 * 1024 } as const;
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
  notes: 'BERTH_LOG_LEVEL=debug in the environment of the daemon logs more; berth daemon status says where the file is.',
  examples: {
    'berth daemon logs -n 200': 'the newest 200 lines',
    'berth daemon logs -f': 'and what follows',
  },
  run({ lines, follow, json }: Args, cli) {
    const count = lines === undefined ? limits.logLinesDefault : readCount('--lines', lines, 0);
    const path = join(cli.paths.stateDir, 'berth.log');
    const show = (line: string): void => cli.print(json ? line : describeLine(line));
    const descriptor = openLog(path);
    const { tail, size } = readTail(descriptor, count);
    tail.forEach(show);
    if (follow && !json) cli.notice(`following ${printableLine(shortenHome(path))}; Ctrl-C ends it`);
    if (follow) return followLog(path, descriptor, size, show);
    closeSync(descriptor);
    return Promise.resolve(exit.ok);
  },
};

function openLog(path: string): number {
  try {
    return openSync(path, 'r');
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    const why = isMissing ? `there is no log yet: ${shortenHome(path)} does not exist` : `cannot read ${path}: ${(error as Error).message}`;
    throw new Refused(why);
  }
}

/** The last lines of a file, and its size. */
function readTail(descriptor: number, count: number): { tail: string[]; size: number } {
  const { size } = fstatSync(descriptor);
  const chunks: Buffer[] = [];
  let at = size;
  let ends = 0;
  while (at > 0 && ends <= count && size - at < limits.logTailBytesMax) {
    const length = Math.min(tuning.chunkBytes, at);
    at -= length;
    const chunk = Buffer.alloc(length);
    readSync(descriptor, chunk, 0, length, at);
    ends += chunk.reduce((sum, byte) => (byte === 0x0a ? sum + 1 : sum), 0);
    chunks.unshift(chunk);
  }
  const lines = Buffer.concat(chunks).toString('utf8').split('\n');
  // Drops the empty text after the last line, and a partial first line.
  if (lines.at(-1) === '') lines.pop();
  if (at > 0) lines.shift();
  return { tail: count === 0 ? [] : lines.slice(-count), size };
}

/** Follows a log file from an offset, like tail -F. A replaced or truncated file is read from its beginning. */
async function followLog(path: string, first: number, from: number, show: (line: string) => void): Promise<ExitCode> {
  let descriptor = first;
  let at = from;
  let decoder = new StringDecoder('utf8');
  let rest = '';
  const chunk = Buffer.alloc(tuning.chunkBytes);

  function reopen(): void {
    closeSync(descriptor);
    descriptor = openLog(path);
    at = 0;
    decoder = new StringDecoder('utf8');
    rest = '';
  }

  function readOn(): void {
    if (fstatSync(descriptor).nlink === 0 || fstatSync(descriptor).size < at) reopen();
    for (let count = 1; count > 0; at += count) {
      count = readSync(descriptor, chunk, 0, chunk.length, at);
      const lines = (rest + decoder.write(chunk.subarray(0, count))).split('\n');
      rest = lines.pop() ?? '';
      lines.forEach(show);
    }
  }

  return new Promise((_, reject) => {
    const watcher = watch(dirname(path), () => {
      try {
        readOn();
      } catch (error) {
        watcher.close();
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    });
    watcher.on('error', reject);
    readOn();
  });
}

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
