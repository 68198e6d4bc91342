import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { limits } from '../protocol/limits.js';
import { childrenOf, hasVariable, holds, readProcesses, readStat, softLimit, type ProcessStat } from './process-table.js';

/** The variable that every process of a command starts with. */
export const markerVariable = 'BERTH_CALL';

/** How the processes of one command are known. */
export interface Family {
  /** The process that was started: it leads a session of its own. */
  pid: number;
  startTime: number;
  marker: string;
  /** The pipe that it writes to, as /proc shows it. */
  pipe?: string;
}

const watermarked = { pendingSignals: 'Max pending signals', queueBytes: 'Max msgqueue size' } as const;

export interface Watermark {
  pendingSignals: number;
  queueBytes: number;
}

/**
 * Two soft limits that nobody misses, lowered to a pair of numbers that only this command has. Children inherit them whatever they do
 * to their environment, session and descriptors, and setting them again is not what a daemon does.
 */
export function watermarkOf(marker: string): Watermark | undefined {
  const most = Object.values(watermarked).map((name) => softLimit('self', name));
  const [signals, bytes] = most.map((limit) => Math.min(limit ?? tuning.watermarkMax, tuning.watermarkMax));
  if (signals === undefined || bytes === undefined || signals < tuning.watermarkMin || bytes < tuning.watermarkMin) return undefined;
  const digest = createHash('sha256').update(marker).digest();
  const below = (limit: number, random: number): number => limit - 1 - (random % Math.floor(limit / 2));
  return { pendingSignals: below(signals, digest.readUInt32LE(0)), queueBytes: below(bytes, digest.readUInt32LE(4)) };
}

const tuning = {
  watermarkMin: 4_096,
  watermarkMax: 1_000_000,
} as const;

function hasWatermark(pid: number, watermark: Watermark): boolean {
  return (
    softLimit(pid, watermarked.queueBytes) === watermark.queueBytes &&
    softLimit(pid, watermarked.pendingSignals) === watermark.pendingSignals
  );
}

/** Who is left of a command, found by everything that gives it away. Those that have ended and wait to be collected do not count. */
async function findFamily(family: Family): Promise<ProcessStat[]> {
  const watermark = watermarkOf(family.marker);
  const variable = `${markerVariable}=${family.marker}`;
  const all = (await readProcesses(family.startTime)).filter(({ pid }) => pid !== process.pid && pid !== 1);
  const leader = all.find(({ pid }) => pid === family.pid);
  // Another leader with this number: a stranger got the pid since.
  const sessionIsOurs = leader === undefined || leader.startTime === family.startTime;
  const found = new Set<number>();
  for (const { pid, startTime, session, dead } of all) {
    const isLeader = pid === family.pid && startTime === family.startTime;
    const known = isLeader || (sessionIsOurs && session === family.pid) || (!dead && hasVariable(pid, variable));
    if (
      known ||
      (!dead && watermark !== undefined && hasWatermark(pid, watermark)) ||
      (!dead && family.pipe !== undefined && holds(pid, family.pipe))
    )
      found.add(pid);
  }
  for (let before = -1; before < found.size;) {
    before = found.size;
    for (const { pid, parent } of all) if (found.has(parent)) found.add(pid);
  }
  return all.filter(({ pid, dead }) => found.has(pid) && !dead);
}

/** Ends whatever is left of a command, politely first when there is time. True when nothing is. */
export async function endFamily(family: Family, graceMs: number): Promise<boolean> {
  let left = await findFamily(family);
  for (const { pid } of left) if (graceMs > 0) signal(pid, 'SIGTERM');
  const graceEndMs = performance.now() + graceMs;
  while (left.length > 0 && performance.now() < graceEndMs) {
    await wait(limits.killPollMs);
    left = left.filter(isThere);
    if (left.length === 0) left = await findFamily(family);
  }
  for (let round = 0; round < limits.killRoundsMax; round++) {
    left = await stopAll(family);
    if (left.length === 0) return true;
    for (const { pid } of left) signal(pid, 'SIGKILL');
    await wait(limits.killPollMs);
  }
  return false;
}

/** A process that forks while its relatives are being killed leaves somebody behind, so all are stopped before the first one is killed. */
async function stopAll(family: Family): Promise<ProcessStat[]> {
  const stopped = new Set<number>();
  for (let round = 0; round < limits.killRoundsMax; round++) {
    const found = await findFamily(family);
    const fresh = found.filter(({ pid }) => !stopped.has(pid));
    if (fresh.length === 0) return found;
    for (const { pid } of fresh) {
      signal(pid, 'SIGSTOP');
      stopped.add(pid);
    }
  }
  return findFamily(family);
}

/** The first process of the namespace that bubblewrap, as `pid`, has made. When it is killed, the kernel kills all others with it. */
export function namespaceInit(pid: number): number | undefined {
  return childrenOf(pid)[0];
}

/** Asks what runs in a namespace to end. A courtesy: what does not listen, or is one too many, is killed. */
export function askToEnd(init: number): void {
  const asked = [init];
  for (let i = 0; i < asked.length && asked.length < limits.commandProcessesDefault; i++) asked.push(...childrenOf(asked[i] ?? 0));
  for (const pid of asked.slice(1)) signal(pid, 'SIGTERM');
}

function isThere({ pid, startTime }: { pid: number; startTime: number }): boolean {
  const stat = readStat(pid);
  return stat?.startTime === startTime && !stat.dead;
}

export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    // It has just ended, or became somebody else's.
    if (!['ESRCH', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}
