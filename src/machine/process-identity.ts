import { readFileSync } from 'node:fs';

/** A process for good: a pid is given to another one later, but not with the same start. */
export interface ProcessIdentity {
  pid: number;
  /** Ticks since the machine was switched on. */
  startTime: string;
}

export interface ProcessStatus extends ProcessIdentity {
  /** The letter of /proc/pid/stat: `T` and `t` are stopped, `Z` has ended. */
  state: string;
}

/** What the kernel says of a process; undefined when there is none, or it is in another pid namespace. */
export function readProcess(pid: number): ProcessStatus | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch (error) {
    if (['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes(String((error as NodeJS.ErrnoException).code))) return undefined;
    throw error;
  }
  // The name in brackets can hold anything, brackets too.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, startTime] = [fields[0], fields[19]];
  return state === undefined || startTime === undefined ? undefined : { pid, startTime, state };
}

/** Does that very process still run? */
export function isRunning({ pid, startTime }: ProcessIdentity): boolean {
  const found = readProcess(pid);
  return found?.startTime === startTime && found.state !== 'Z';
}
