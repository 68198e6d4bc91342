import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { median } from './numbers.js';

const megabyte = 1024 * 1024;

/** User and system time of all threads. Read from the scheduler, whose count is finer than the 10 ms of `stat`. */
export function cpuMs(pid: number): number {
  let nanoseconds = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    nanoseconds += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]);
  }
  return nanoseconds / 1e6;
}

function statusMb(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return (Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1]) * 1024) / megabyte;
}

export async function settledRssMb(pid: number): Promise<number> {
  const samples: number[] = [];
  await delay(400);
  for (let i = 0; i < 5; i++) {
    await delay(40);
    samples.push(statusMb(pid, 'VmRSS'));
  }
  return median(samples);
}

/** From here on the peak is counted anew. */
export function forgetPeakRss(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

export function peakRssMb(pid: number): number {
  return statusMb(pid, 'VmHWM');
}

/** Bytes on their way to the disk; what goes to sockets is not among them. */
export function diskBytes(pid: number): number {
  return Number(/^write_bytes: (\d+)/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1]);
}
