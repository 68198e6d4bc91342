import { readFileSync } from 'node:fs';

/** The identity of a process: the pid alone may be reused, but not with the same start time. */
export interface ProcessIdentity {
  pid: number;
  /** Clock ticks since boot. */
  startTime: string;
}

export interface ProcessStatus extends ProcessIdentity {
  /** The state letter of /proc/pid/stat: `T` and `t` are stopped, `Z` is a zombie. */
  state: string;
}

/** Reads /proc/pid/stat; undefined when there is no such process in this pid namespace. */
export function readProcess(pid: number): ProcessStatus | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch (error) {
    if (['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes(String((error as NodeJS.ErrnoException).code))) return undefined;
    throw error;
  }
  // The command name in brackets may contain brackets and spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, startTime] = [fields[0], fields[19]];
  return state === undefined || startTime === undefined ? undefined : { pid, startTime, state };
}

/** Whether the process still runs: its pid has the same start time and is no zombie. */
export function isRunning({ pid, startTime }: ProcessIdentity): boolean {
  const found = readProcess(pid);
  return found?.startTime === startTime && found.state !== 'Z';
}
