import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

/**
 * Puts asker and answerers on different cores for a while. A wake across cores takes three times as long as one on the same core, and
 * where the scheduler happens to leave a pair of processes would otherwise decide the figure. Does nothing where there is no taskset.
 */
export async function keepApart<T>(answerers: readonly number[], work: () => Promise<T>): Promise<T> {
  const cores = availableParallelism();
  if (cores < 2) return work();
  pin(process.pid, '0');
  for (const pid of answerers) pin(pid, '1');
  try {
    return await work();
  } finally {
    pin(process.pid, `0-${cores - 1}`);
  }
}

function pin(pid: number, cores: string): void {
  spawnSync('taskset', ['--all-tasks', '--cpu-list', '--pid', cores, String(pid)], { stdio: 'ignore' });
}
