import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { limits } from '../protocol/limits.js';
import { childrenOf, hasVariable, hasDescriptor, readProcesses, readStat, softLimit, type ProcessStat } from './process-table.js';

/** The environment variable that marks every process of a command. */
export const markerVariable = 'BERTH_CALL';

/** What identifies the processes of one command. */
export interface ProcessTree {
  /** The started process, which leads a session (setsid). */
  pid: number;
  startTime: number;
  marker: string;
  /** The output pipe, as its link in /proc names it. */
  pipe?: string;
}

const watermarked = { pendingSignals: 'Max pending signals', queueBytes: 'Max msgqueue size' } as const;

export interface Watermark {
  pendingSignals: number;
  queueBytes: number;
}

/**
 * A watermark: two soft rlimits that programs do not need, lowered to a pair of numbers unique to this command. Children inherit rlimits even
 * when they change environment, session and descriptors, and daemonizing programs do not reset these two.
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

/** Finds the living processes of a command by session, environment variable, watermark, output pipe and ancestry. Zombies do not count. */
async function findTree(tree: ProcessTree): Promise<ProcessStat[]> {
  const watermark = watermarkOf(tree.marker);
  const variable = `${markerVariable}=${tree.marker}`;
  const all = (await readProcesses(tree.startTime)).filter(({ pid }) => pid !== process.pid && pid !== 1);
  const leader = all.find(({ pid }) => pid === tree.pid);
  // A leader with another start time: the pid was recycled.
  const sessionIsOurs = leader === undefined || leader.startTime === tree.startTime;
  const found = new Set<number>();
  for (const { pid, startTime, session, dead } of all) {
    const isLeader = pid === tree.pid && startTime === tree.startTime;
    const isMember = isLeader || (sessionIsOurs && session === tree.pid) || (!dead && hasVariable(pid, variable));
    if (
      isMember ||
      (!dead && watermark !== undefined && hasWatermark(pid, watermark)) ||
      (!dead && tree.pipe !== undefined && hasDescriptor(pid, tree.pipe))
    )
      found.add(pid);
  }
  for (let before = -1; before < found.size;) {
    before = found.size;
    for (const { pid, parent } of all) if (found.has(parent)) found.add(pid);
  }
  return all.filter(({ pid, dead }) => found.has(pid) && !dead);
}

/** Kills the process tree of a command: SIGTERM, a grace period, then SIGKILL. True when no process is left. */
export async function killTree(tree: ProcessTree, graceMs: number): Promise<boolean> {
  let alive = await findTree(tree);
  for (const { pid } of alive) if (graceMs > 0) signal(pid, 'SIGTERM');
  const graceEndMs = performance.now() + graceMs;
  while (alive.length > 0 && performance.now() < graceEndMs) {
    await wait(limits.killPollMs);
    alive = alive.filter(isAlive);
    if (alive.length === 0) alive = await findTree(tree);
  }
  for (let round = 0; round < limits.killRoundsMax; round++) {
    alive = await stopAll(tree);
    if (alive.length === 0) return true;
    for (const { pid } of alive) signal(pid, 'SIGKILL');
    await wait(limits.killPollMs);
  }
  return false;
}

/** Sends SIGSTOP to all processes before the first SIGKILL: one that forks meanwhile would leave a child behind. */
async function stopAll(tree: ProcessTree): Promise<ProcessStat[]> {
  const stopped = new Set<number>();
  for (let round = 0; round < limits.killRoundsMax; round++) {
    const found = await findTree(tree);
    const running = found.filter(({ pid }) => !stopped.has(pid));
    if (running.length === 0) return found;
    for (const { pid } of running) {
      signal(pid, 'SIGSTOP');
      stopped.add(pid);
    }
  }
  return findTree(tree);
}

/** The init process (pid 1) of the namespace that the bubblewrap `pid` has created. Killing init kills the whole namespace. */
export function namespaceInit(pid: number): number | undefined {
  return childrenOf(pid)[0];
}

/** Sends SIGTERM to the processes of a namespace, up to a limit, as a courtesy before SIGKILL. */
export function terminateNamespace(init: number): void {
  const pids = [init];
  for (let i = 0; i < pids.length && pids.length < limits.commandProcessesDefault; i++) pids.push(...childrenOf(pids[i] ?? 0));
  for (const pid of pids.slice(1)) signal(pid, 'SIGTERM');
}

function isAlive({ pid, startTime }: { pid: number; startTime: number }): boolean {
  const stat = readStat(pid);
  return stat?.startTime === startTime && !stat.dead;
}

export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    // The process has just ended, or the pid was recycled by another user.
    if (!['ESRCH', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}
