import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTick } from 'node:timers/promises';
import { limits } from '../protocol/limits.js';
import { isSystemError } from '../machine/system-calls.js';
import { childrenOf, listProcesses, readHeldKb, readNamespace, readMemfds, readProcesses, readSharedBytes } from './process-table.js';
import { namespaceInit } from './process-tree.js';

/** Resource limits of one command and its process tree. */
export interface CommandBounds {
  memoryBytes: number;
  processes: number;
}

/** The resource limit that a command exceeded. */
export interface Excess {
  resource: keyof CommandBounds;
  limit: number;
}

interface Watched {
  /** The started process, which leads a session (setsid). */
  pid: number;
  startTime: number;
  /** In a pid namespace, which no descendant can leave. */
  namespaced: boolean;
  bounds: CommandBounds;
  /** The shared memory of the whole machine when the command began. */
  sharedBefore: number;
  onExcess(excess: Excess): void;
}

/** Processes that are read before yielding to the event loop. */
const sliceSize = 32;

/**
 * Polls memory and number of processes of running commands, and reports those over a limit. A daemon without delegated cgroups cannot use
 * these, and RLIMIT_AS limits address space, of which node, java and sanitizers reserve far more than they use. Outside of a namespace, a
 * process that left the session of its command (setsid) is not counted.
 */
export function createResourceWatch() {
  const watched = new Set<Watched>();
  // A fork bomb doubles quickly and counting is cheap, so processes are counted more often than memory.
  const schedules = [
    repeat('processes', exceedsProcesses, limits.commandCountMs),
    repeat('memoryBytes', exceedsMemory, limits.commandMemoryMs),
  ];

  /** Returns a function that starts the polling; polling stops when no command is watched. */
  function repeat(resource: Excess['resource'], exceeds: (command: Watched) => Promise<boolean>, everyMs: number): () => void {
    let isPlanned = false;
    async function checkAll(): Promise<void> {
      for (const command of [...watched]) {
        // The command may have ended meanwhile.
        if ((await falseIfUnreadable(exceeds(command))) && watched.delete(command))
          command.onExcess({ resource, limit: command.bounds[resource] });
      }
      isPlanned = false;
      plan();
    }
    function plan(): void {
      if (isPlanned || watched.size === 0) return;
      isPlanned = true;
      setTimeout(() => void checkAll(), everyMs).unref();
    }
    return plan;
  }

  /** Watches a command until the returned function is called. */
  return (options: Omit<Watched, 'sharedBefore'>): (() => void) => {
    const command = { ...options, sharedBefore: readSharedBytes() };
    watched.add(command);
    for (const plan of schedules) plan();
    return () => void watched.delete(command);
  };
}

/** An unreadable /proc (EMFILE, when the daemon has no descriptors left) skips one poll. */
async function falseIfUnreadable(check: Promise<boolean>): Promise<boolean> {
  try {
    return await check;
  } catch (error) {
    if (isSystemError(error)) return false;
    throw error;
  }
}

async function exceedsProcesses(command: Watched): Promise<boolean> {
  return (await findMembers(command)).length > command.bounds.processes;
}

async function exceedsMemory(command: Watched): Promise<boolean> {
  const { memoryBytes } = command.bounds;
  const members = await findMembers(command);
  let heldBytes = 0;
  for (const [i, member] of members.entries()) {
    if (i % sliceSize === sliceSize - 1) await nextTick();
    heldBytes += readHeldKb(member) * 1024;
  }
  const memfdBytes = readSharedBytes() - command.sharedBefore > memoryBytes - heldBytes ? sumMemfds(members) : 0;
  if (heldBytes + memfdBytes <= memoryBytes) return false;
  // RSS counts shared pages once per process; PSS, which is slower to read, divides them.
  return memfdBytes + (await readShareBytes(members)) > memoryBytes;
}

/** The size of the memfd files of a command, which no RSS contains while they are unmapped. Read only when it can matter. */
function sumMemfds(members: readonly string[]): number {
  const sizes = new Map(members.flatMap(readMemfds).map(({ inode, bytes }) => [inode, bytes]));
  return [...sizes.values()].reduce((sum, bytes) => sum + bytes, 0);
}

/** The /proc directories of the processes of a command. The search stops above the limit. */
async function findMembers({ pid, startTime, namespaced, bounds }: Watched): Promise<string[]> {
  // The /proc of the namespace lists exactly these processes, in one readdir.
  const init = namespaced ? namespaceInit(pid) : undefined;
  if (init !== undefined && hasOwnProc(init)) return listProcesses(procOf(init));
  const found = [pid];
  for (let i = 0; i < found.length && found.length <= bounds.processes; i++) {
    if (i % sliceSize === sliceSize - 1) await nextTick();
    found.push(...childrenOf(found[i] ?? 0));
  }
  const isCrowded = !namespaced && listProcesses('/proc').length > bounds.processes;
  const session = isCrowded ? (await readProcesses(startTime)).filter((one) => one.session === pid) : [];
  return [...new Set([...found, ...session.map((one) => one.pid)])].map((one) => `/proc/${one}`);
}

function procOf(init: number): string {
  return join('/proc', String(init), 'root', 'proc');
}

/** Until bubblewrap has mounted the /proc of the namespace, init still sees the /proc of the machine, with all its processes. */
function hasOwnProc(init: number): boolean {
  const seen = readNamespace(join(procOf(init), '1'));
  return seen !== undefined && seen === readNamespace(`/proc/${init}`);
}

async function readShareBytes(members: readonly string[]): Promise<number> {
  const shares = await Promise.all(members.map(readShareKb));
  return shares.reduce((sum, kb) => sum + kb, 0) * 1024;
}

async function readShareKb(member: string): Promise<number> {
  try {
    const text = await readFile(`${member}/smaps_rollup`, 'latin1');
    const rows = [...text.matchAll(/^(?:Pss_Anon|Pss_Shmem|SwapPss): +(\d+) kB$/gm)];
    return rows.reduce((sum, [, kb]) => sum + Number(kb), 0);
  } catch (error) {
    if (error instanceof Error && 'code' in error) return readHeldKb(member);
    throw error;
  }
}
