import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTick } from 'node:timers/promises';
import { limits } from '../protocol/limits.js';
import { isSystemError } from '../machine/system-calls.js';
import { childrenOf, listProcesses, readHeldKb, readNamespace, readMemoryFiles, readProcesses, readSharedBytes } from './process-table.js';
import { namespaceInit } from './process-tree.js';

/** What one command may take at once, with everything that it has started. */
export interface CommandBounds {
  memoryBytes: number;
  processes: number;
}

/** Which bound a command went beyond. */
export interface Excess {
  what: keyof CommandBounds;
  most: number;
}

interface Watched {
  /** The process that was started: it leads a session of its own. */
  pid: number;
  startTime: number;
  /** All of its descendants stay below it. */
  namespaced: boolean;
  bounds: CommandBounds;
  /** What all files in memory had when it began. */
  sharedBefore: number;
  onExcess(excess: Excess): void;
}

/** So many processes are looked at before others have a turn. */
const sliceSize = 32;

/**
 * Looks many times a second what commands take, and tells of those that take too much. There are no control groups to do this where
 * a daemon has none delegated, and the kernel's own bounds are of addresses, of which node, java and sanitizers reserve far more than
 * they use. What a command outside of a namespace has cut loose from its session is not seen.
 */
export function createResourceWatch() {
  const watched = new Set<Watched>();
  // Whoever multiplies has twice as many in a moment, and counting costs little.
  const schedules = [
    repeat('processes', exceedsProcesses, limits.commandCountMs),
    repeat('memoryBytes', exceedsMemory, limits.commandMemoryMs),
  ];

  /** What it returns makes it go on as long as there is something to watch. */
  function repeat(what: Excess['what'], exceeds: (command: Watched) => Promise<boolean>, everyMs: number): () => void {
    let isPlanned = false;
    async function look(): Promise<void> {
      for (const command of [...watched]) {
        // It may have ended meanwhile.
        if ((await unlessUnreadable(exceeds(command))) && watched.delete(command)) command.onExcess({ what, most: command.bounds[what] });
      }
      isPlanned = false;
      plan();
    }
    function plan(): void {
      if (isPlanned || watched.size === 0) return;
      isPlanned = true;
      setTimeout(() => void look(), everyMs).unref();
    }
    return plan;
  }

  /** Ends when what it returns is called. */
  return (asked: Omit<Watched, 'sharedBefore'>): (() => void) => {
    const command = { ...asked, sharedBefore: readSharedBytes() };
    watched.add(command);
    for (const plan of schedules) plan();
    return () => void watched.delete(command);
  };
}

/** A daemon that has no descriptor left for a look takes the next one. */
async function unlessUnreadable(looked: Promise<boolean>): Promise<boolean> {
  try {
    return await looked;
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
  const hidden = readSharedBytes() - command.sharedBefore > memoryBytes - heldBytes ? fileBytes(members) : 0;
  if (heldBytes + hidden <= memoryBytes) return false;
  // Pages that processes share were counted once for each of them.
  return hidden + (await readShareBytes(members)) > memoryBytes;
}

/** Memory in files that have no name in any directory, and that nobody has mapped, is no process's own. Looked for only when it can matter. */
function fileBytes(members: readonly string[]): number {
  const sizes = new Map(members.flatMap(readMemoryFiles).map(({ inode, bytes }) => [inode, bytes]));
  return [...sizes.values()].reduce((sum, bytes) => sum + bytes, 0);
}

/** Directories of /proc. Some more than the bound are enough. */
async function findMembers({ pid, startTime, namespaced, bounds }: Watched): Promise<string[]> {
  // One look at the namespace's own list costs the same however its processes are related.
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

/** Until bubblewrap has mounted a /proc for the namespace, its first process still sees that of the machine, with everybody in it. */
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
