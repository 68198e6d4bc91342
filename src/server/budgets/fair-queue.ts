const tuning = {
  /** How long work is done before the sockets are polled again, for new connections and bytes. */
  turnMs: 5,
  /** How long one worker works before the next one does. */
  sliceMs: 0.5,
} as const;

/** Works until it has nothing to do or the time is after `untilMs` of performance.now(). True when more is left. */
export type Worker = (untilMs: number) => boolean;

/**
 * Fair queueing of what connections ask for, in slices of time. A worker that comes anew and one that has more to do take turns, so that
 * many peers that pipeline cannot hold up a newcomer, nor many newcomers a peer that pipelines.
 */
export function createFairQueue() {
  /** Workers that have not had a slice since they came. */
  const fresh = new Set<Worker>();
  /** Workers that have used up a slice, in the order of the next ones. */
  const busy = new Set<Worker>();
  /** Time used since the sockets were polled, or since the last turn if they were polled in between: then one turn is shorter. */
  let usedMs = 0;
  let isScheduled = false;
  let servesFresh = false;

  function schedule(): void {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(takeTurn);
  }

  function serve(worker: Worker): void {
    const beganMs = performance.now();
    if (worker(beganMs + tuning.sliceMs)) busy.add(worker);
    usedMs += performance.now() - beganMs;
  }

  function takeTurn(): void {
    isScheduled = false;
    usedMs = 0;
    while (usedMs < tuning.turnMs) {
      servesFresh = busy.size === 0 || (!servesFresh && fresh.size > 0);
      const from = servesFresh ? fresh : busy;
      const [next] = from;
      if (!next) return;
      from.delete(next);
      serve(next);
    }
    if (fresh.size + busy.size > 0) schedule();
  }

  return {
    /** Has a worker work in its turn. */
    later(worker: Worker): void {
      if (!busy.has(worker)) fresh.add(worker);
      schedule();
    },
    /** Has a worker work now, if nobody waits, and otherwise in its turn. False when it has to wait for all of its turn. */
    add(worker: Worker): boolean {
      const isNow = !isScheduled && usedMs < tuning.turnMs;
      if (isNow) serve(worker);
      else if (!busy.has(worker)) fresh.add(worker);
      if (!isNow || busy.size > 0 || usedMs >= tuning.turnMs) schedule();
      return isNow;
    },
    remove(worker: Worker): void {
      fresh.delete(worker);
      busy.delete(worker);
    },
  };
}
export type FairQueue = ReturnType<typeof createFairQueue>;
