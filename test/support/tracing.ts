import { spawn } from 'node:child_process';
import { once } from 'node:events';

export interface Tracing {
  /** Lets go of the process. */
  stop(): Promise<void>;
  /** Resolves when the process is gone, and strace with it. */
  readonly over: Promise<void>;
}

/** Attaches strace to all threads of a process; resolves when it has hold of it. */
export async function trace(pid: number, args: string[]): Promise<Tracing> {
  const child = spawn('strace', ['-f', '-p', String(pid), ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
  const exited = once(child, 'exit');
  let said = '';
  await new Promise<void>((resolve, reject) => {
    child.stderr.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      if (said.includes('attached')) resolve();
    });
    child.once('exit', () => reject(new Error(`strace: ${said}`)));
  });
  const over = exited.then(() => undefined);
  return {
    over,
    stop() {
      child.kill('SIGINT');
      return over;
    },
  };
}
