import { readFileSync } from 'node:fs';

/** The time that the main thread of a process has spent on a processor: what else the machine does meanwhile is not in it. */
export function processorMs(pid: number | 'self' = 'self'): number {
  return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
}

/** Watches the event loop of this process. Returns the longest time that it worked without letting timers run, and stops. */
export function watchStalls(): () => number {
  let longestMs = 0;
  let fromMs = processorMs();
  const look = (): void => {
    const nowMs = processorMs();
    longestMs = Math.max(longestMs, nowMs - fromMs);
    fromMs = nowMs;
  };
  const timer = setInterval(look, 5);
  return () => {
    look();
    clearInterval(timer);
    return longestMs;
  };
}
