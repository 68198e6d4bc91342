import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { setImmediate as nextTick } from 'node:timers/promises';

/** A process from /proc/PID/stat. Pid and start time together are unique until the next boot. */
export interface ProcessStat {
  pid: number;
  parent: number;
  session: number;
  /** Clock ticks since boot. */
  startTime: number;
  /** A zombie: ended, and not yet reaped by its parent. */
  dead: boolean;
}

/** Processes that are read before yielding to the event loop. */
const sliceSize = 64;

export function readStat(pid: number): ProcessStat | undefined {
  const text = readOrUndefined(() => readFileSync(`/proc/${pid}/stat`, 'latin1'));
  if (text === undefined) return undefined;
  // The process name in parentheses may contain parentheses.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return {
    pid,
    parent: Number(fields[1]),
    session: Number(fields[3]),
    startTime: Number(fields[19]),
    dead: fields[0] === 'Z' || fields[0] === 'X',
  };
}

/** All processes that started at `since` or later. */
export async function readProcesses(since: number): Promise<ProcessStat[]> {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const found: ProcessStat[] = [];
  for (const [i, pid] of pids.entries()) {
    if (i % sliceSize === sliceSize - 1) await nextTick();
    const stat = readStat(Number(pid));
    if (stat && stat.startTime >= since) found.push(stat);
  }
  return found;
}

/** The child pids of a process, if this kernel has /proc/PID/task/TID/children. */
export function childrenOf(pid: number): number[] {
  const tasks = readOrUndefined(() => readdirSync(`/proc/${pid}/task`)) ?? [];
  return tasks.flatMap((task) => {
    const text = readOrUndefined(() => readFileSync(`/proc/${pid}/task/${task}/children`, 'latin1')) ?? '';
    return text
      .split(' ')
      .filter((word) => word !== '')
      .map(Number);
  });
}

/** The directories of all processes in a /proc mount. */
export function listProcesses(proc: string): string[] {
  const names = readOrUndefined(() => readdirSync(proc)) ?? [];
  return names.filter((name) => /^\d+$/.test(name)).map((name) => `${proc}/${name}`);
}

/** The pid namespace of a process; undefined when the process has ended or belongs to another user. */
export function readNamespace(directory: string): string | undefined {
  return readOrUndefined(() => readlinkSync(`${directory}/ns/pid`));
}

/** Unreclaimable memory of a process (anonymous, shared and swapped) in kilobytes; 0 when the process has ended. */
export function readHeldKb(directory: string): number {
  const text = readOrUndefined(() => readFileSync(`${directory}/status`, 'latin1')) ?? '';
  return [...text.matchAll(/^(?:RssAnon|RssShmem|VmSwap):\s+(\d+) kB$/gm)].reduce((sum, [, kb]) => sum + Number(kb), 0);
}

/** The memfd files that a process has open. */
export function readMemfds(directory: string): { inode: number; bytes: number }[] {
  const names = readOrUndefined(() => readdirSync(`${directory}/fd`)) ?? [];
  return names.flatMap((name) => {
    const path = `${directory}/fd/${name}`;
    if (readOrUndefined(() => readlinkSync(path))?.startsWith('/memfd:') !== true) return [];
    const stat = readOrUndefined(() => statSync(path));
    return stat ? [{ inode: stat.ino, bytes: stat.blocks * bytesPerBlock }] : [];
  });
}

const bytesPerBlock = 512;

/** The shared memory (tmpfs, memfd) of the whole machine. */
export function readSharedBytes(): number {
  const text = readOrUndefined(() => readFileSync('/proc/meminfo', 'latin1')) ?? '';
  return Number(/^Shmem:\s+(\d+) kB$/m.exec(text)?.[1] ?? 0) * 1024;
}

/** True when the environment of a process has this variable, as `name=value`. */
export function hasVariable(pid: number, variable: string): boolean {
  const environ = readOrUndefined(() => readFileSync(`/proc/${pid}/environ`, 'latin1')) ?? '';
  return `\0${environ}\0`.includes(`\0${variable}\0`);
}

/** A soft rlimit of a process, by its name in /proc/PID/limits; undefined when unlimited. */
export function softLimit(pid: number | 'self', name: string): number | undefined {
  const text = readOrUndefined(() => readFileSync(`/proc/${pid}/limits`, 'latin1')) ?? '';
  const found = text.split('\n').find((line) => line.startsWith(`${name} `));
  const value = found?.slice(name.length).trim().split(/\s+/)[0];
  return value === undefined || value === 'unlimited' ? undefined : Number(value);
}

/** True when the process has a file descriptor whose link in /proc has this target. */
export function hasDescriptor(pid: number, target: string): boolean {
  const names = readOrUndefined(() => readdirSync(`/proc/${pid}/fd`)) ?? [];
  return names.some((name) => readOrUndefined(() => readlinkSync(`/proc/${pid}/fd/${name}`)) === target);
}

/** The boot id of this machine, another one after each reboot. */
export function machineBootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
}

/** Undefined when the process ended meanwhile or belongs to another user. */
function readOrUndefined<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof Error && 'code' in error) return undefined;
    throw error;
  }
}
