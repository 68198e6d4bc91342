import { spawn } from 'node:child_process';
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { isSystemError } from '../machine/system-calls.js';
import { limits } from '../protocol/limits.js';

type Env = Record<string, string | undefined>;

/**
 * Runs the program that prints an API key, without a shell, and returns its stdout. The program is found by its absolute path, starts in
 * the home directory, and gets the daemon's environment without keys and a process group of its own, which is killed after a timeout. Its
 * output may be a secret, so errors never quote it.
 */
export async function runKeyCommand(argv: readonly string[], env: Env): Promise<string> {
  const [program = '', ...args] = argv;
  const path = resolveProgram(program, env);
  return new Promise((resolve, reject) => {
    const child = spawn(path, args, {
      cwd: env.HOME !== undefined && existsSync(env.HOME) ? env.HOME : '/',
      env: withoutKeys(env),
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const chunks: Buffer[] = [];
    let bytes = 0;
    const timer = setTimeout(() => giveUp(`did not end within ${limits.keyCommandMs / 1000} s`), limits.keyCommandMs);

    function giveUp(what: string): void {
      clearTimeout(timer);
      if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) killGroup(child.pid);
      child.stdout.destroy();
      reject(new Error(`the command ${program} ${what}; run it by hand to see why`));
    }

    child.stdout.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > limits.keyCommandBytesMax) giveUp(`printed too much, more than ${limits.keyCommandBytesMax} bytes`);
      else chunks.push(chunk);
    });
    child.on('error', (error: NodeJS.ErrnoException) => giveUp(error.code === 'ENOENT' ? 'was not found' : 'could not be started'));
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      if (code === 0) resolve(Buffer.concat(chunks).toString('utf8'));
      else giveUp(`failed with ${code === null ? String(signal) : `exit code ${code}`}`);
    });
  });
}

/**
 * The absolute path of a program. Relative names and relative entries of PATH mean another program in each directory, and the daemon's is
 * often a workspace, so neither is followed.
 */
function resolveProgram(program: string, env: Env): string {
  if (isAbsolute(program)) return program;
  if (program.includes('/')) throw new Error(`the command ${program} is relative to a directory; give its absolute path`);
  const found = (env.PATH ?? '')
    .split(':')
    .filter(isAbsolute)
    .map((folder) => join(folder, program))
    .find(isProgram);
  if (found === undefined) throw new Error(`the command ${program} was not found in the PATH of the daemon; give its absolute path`);
  return found;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch (error) {
    if (isSystemError(error)) return false;
    throw error;
  }
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    // Race: the process group has just ended.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function withoutKeys(env: Env): Env {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/_API_KEY$|_AUTH_TOKEN$/.test(name)));
}
