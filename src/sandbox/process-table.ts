import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { setImmediate as nextTick } from 'node:timers/promises';

/** A process as /proc tells of it. The pid and the start time together are never used twice on a machine that stays on. */
export interface ProcessStat {
  pid: number;
  parent: number;
  session: number;
  /** Ticks since the machine was switched on. */
  startTime: number;
  /** It has ended, and only its parent has not heard of it. */
  dead: boolean;
}

/** So many processes are looked at before others have a turn. */
const sliceSize = 64;

export function readStat(pid: number): ProcessStat | undefined {
  const text = look(() => readFileSync(`/proc/${pid}/stat`, 'latin1'));
  if (text === undefined) return undefined;
  // The name in brackets can hold anything, brackets too.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return {
    pid,
    parent: Number(fields[1]),
    session: Number(fields[3]),
    startTime: Number(fields[19]),
    dead: fields[0] === 'Z' || fields[0] === 'X',
  };
}

/** All processes that started at that time or later. */
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

/** The children of a process, if this kernel says. */
export function childrenOf(pid: number): number[] {
  const tasks = look(() => readdirSync(`/proc/${pid}/task`)) ?? [];
  return tasks.flatMap((task) => {
    const text = look(() => readFileSync(`/proc/${pid}/task/${task}/children`, 'latin1')) ?? '';
    return text
      .split(' ')
      .filter((word) => word !== '')
      .map(Number);
  });
}

/** The directories of all processes below a /proc. */
export function listProcesses(proc: string): string[] {
  const names = look(() => readdirSync(proc)) ?? [];
  return names.filter((name) => /^\d+$/.test(name)).map((name) => `${proc}/${name}`);
}

/** Which pid namespace a process is in; undefined when it has ended or may not be looked at. */
export function readNamespace(directory: string): string | undefined {
  return look(() => readlinkSync(`${directory}/ns/pid`));
}

/** Memory that nobody could take from a process without loss, in kilobytes; nothing for one that has ended. */
export function readHeldKb(directory: string): number {
  const text = look(() => readFileSync(`${directory}/status`, 'latin1')) ?? '';
  return [...text.matchAll(/^(?:RssAnon|RssShmem|VmSwap):\s+(\d+) kB$/gm)].reduce((sum, [, kb]) => sum + Number(kb), 0);
}

/** Files in memory that a process holds and no directory has. */
export function readMemoryFiles(directory: string): { inode: number; bytes: number }[] {
  const names = look(() => readdirSync(`${directory}/fd`)) ?? [];
  return names.flatMap((name) => {
    const path = `${directory}/fd/${name}`;
    if (look(() => readlinkSync(path))?.startsWith('/memfd:') !== true) return [];
    const stat = look(() => statSync(path));
    return stat ? [{ inode: stat.ino, bytes: stat.blocks * bytesPerBlock }] : [];
  });
}

const bytesPerBlock = 512;

/** What files in memory have on this machine, of whoever they are. */
export function readSharedBytes(): number {
  const text = look(() => readFileSync('/proc/meminfo', 'latin1')) ?? '';
  return Number(/^Shmem:\s+(\d+) kB$/m.exec(text)?.[1] ?? 0) * 1024;
}

/** True when the process was started with this variable, `name=value`. */
export function hasVariable(pid: number, variable: string): boolean {
  const environ = look(() => readFileSync(`/proc/${pid}/environ`, 'latin1')) ?? '';
  return `\0${environ}\0`.includes(`\0${variable}\0`);
}

/** The soft limit of a process by the name that the kernel gives it; undefined when there is none. */
export function softLimit(pid: number | 'self', name: string): number | undefined {
  const text = look(() => readFileSync(`/proc/${pid}/limits`, 'latin1')) ?? '';
  const found = text.split('\n').find((line) => line.startsWith(`${name} `));
  const value = found?.slice(name.length).trim().split(/\s+/)[0];
  return value === undefined || value === 'unlimited' ? undefined : Number(value);
}

/** True when one of its descriptors is this pipe or file, as readlink shows it. */
export function holds(pid: number, target: string): boolean {
  const names = look(() => readdirSync(`/proc/${pid}/fd`)) ?? [];
  return names.some((name) => look(() => readlinkSync(`/proc/${pid}/fd/${name}`)) === target);
}

/** Which start of the machine this is. */
export function machineBootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
}

/** What is read of a process that ends meanwhile, or belongs to somebody else, is not there. */
function look<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof Error && 'code' in error) return undefined;
    throw error;
  }
}
