import { limits } from '../protocol/limits.js';

/**
 * Runs whose end was written to a silent connection lately. One client opens the event socket after the reply to its prompt and has to
 * hear a run that is already over; another opens it before it prompts and follows the first run that it hears. Both work when a run that
 * is over is replayed until somebody heard its end, and not after.
 */
export function createEndedRuns(now: () => number) {
  const ended = new Map<string, { atMs: number; place: number }>();
  let place = 0;
  return {
    add(runId: string): void {
      const atMs = now();
      // Older ones are not replayed anyway. A clock that was set back forgets all, which costs one replay.
      for (const [oldest, known] of ended) {
        if (Math.abs(atMs - known.atMs) <= limits.v1EndedRunMs) break;
        ended.delete(oldest);
      }
      if (!ended.has(runId)) ended.set(runId, { atMs, place: ++place });
    },
    /** A position for `has`: what is added from now on comes after it. */
    mark: (): number => place,
    /** Whether the end of a run was written to somebody up to a mark. */
    has: (runId: string, upTo: number): boolean => (ended.get(runId)?.place ?? Infinity) <= upTo,
  };
}
