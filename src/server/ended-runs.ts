import { limits } from '../protocol/limits.js';

/**
 * Runs whose end was lately written to a connection without a subscribe command, as of protocol version 1. One such client opens the event
 * socket after the reply to its prompt and must get the events of a run that has ended; another opens the socket before its prompt and
 * follows the first run that it sees. Both work when an ended run is replayed until its end was written once, and not after.
 */
export function createEndedRuns(now: () => number) {
  const ended = new Map<string, { atMs: number; place: number }>();
  let place = 0;
  return {
    add(runId: string): void {
      const atMs = now();
      // Older runs are not replayed. A clock that was set back evicts all of them, which costs one replay.
      for (const [oldest, entry] of ended) {
        if (Math.abs(atMs - entry.atMs) <= limits.v1EndedRunMs) break;
        ended.delete(oldest);
      }
      if (!ended.has(runId)) ended.set(runId, { atMs, place: ++place });
    },
    /** The current position, for `upTo` of `has`. */
    mark: (): number => place,
    /** Whether the end of a run was written to any connection before a mark. */
    has: (runId: string, upTo: number): boolean => (ended.get(runId)?.place ?? Infinity) <= upTo,
  };
}
