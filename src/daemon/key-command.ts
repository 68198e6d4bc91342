import { spawn } from 'node:child_process';
import { limits } from '../protocol/limits.js';

/**
 * Runs the program that prints an API key, without a shell, and returns its stdout. The program gets the daemon's environment without
 * keys, and a process group of its own, which is killed after a timeout. Its output may be a secret, so errors never quote it.
 */
export function runKeyCommand(argv: readonly string[], env: Record<string, string | undefined>): Promise<string> {
  const [program = '', ...args] = argv;
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { env: withoutKeys(env), detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
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

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    // Race: the process group has just ended.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function withoutKeys(env: Record<string, string | undefined>): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/_API_KEY$|_AUTH_TOKEN$/.test(name)));
}
