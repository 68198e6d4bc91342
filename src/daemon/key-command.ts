import { execFile } from 'node:child_process';
import { limits } from '../protocol/limits.js';

const complaintCharsMax = 200;

/**
 * Runs the program that prints a key, without a shell, and returns what it printed. It gets the daemon's environment but for keys.
 * What it printed is never part of an error.
 */
export function runKeyCommand(argv: readonly string[], env: Record<string, string | undefined>): Promise<string> {
  const [program = '', ...args] = argv;
  const options = { env: withoutKeys(env), timeout: limits.keyCommandMs, maxBuffer: limits.keyCommandBytesMax, encoding: 'utf8' as const };
  return new Promise((resolve, reject) => {
    const child = execFile(program, args, options, (error, stdout, stderr) => {
      if (!error) return resolve(stdout);
      reject(new Error(`the command ${program} ${whatHappened(error)}${firstLine(stderr, stdout)}`));
    });
    child.stdin?.end();
  });
}

function withoutKeys(env: Record<string, string | undefined>): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/_API_KEY$|_AUTH_TOKEN$/.test(name)));
}

function whatHappened(error: Error & { code?: unknown; killed?: boolean; signal?: unknown }): string {
  if (error.code === 'ENOENT') return 'was not found';
  if (error.code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') return 'printed too much';
  if (error.killed) return `did not end within ${limits.keyCommandMs / 1000} s`;
  return `failed with ${typeof error.code === 'number' ? `exit code ${error.code}` : String(error.signal ?? error.code)}`;
}

function firstLine(stderr: string, stdout: string): string {
  const line = stderr.trim().split('\n')[0]?.slice(0, complaintCharsMax) ?? '';
  const secret = stdout.trim();
  return line === '' || (secret !== '' && line.includes(secret)) ? '' : `: ${line}`;
}
