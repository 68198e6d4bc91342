export interface HeldSlot {
  release(): void;
  /** Runs `wait` while others may have the slot, and takes one again for what follows. Several waits may overlap. */
  without<T>(wait: () => Promise<T>): Promise<T>;
}

function nothing(): void {
  // There is no slot to give back: the run was stopped while it waited.
}

/** A bound on runs that work at the same time. First come, first served; waiting can be given up. */
export function createSlots(max: number) {
  let taken = 0;
  const queue: { runId: string; grant(): void }[] = [];

  function free(): void {
    const next = queue.shift();
    if (next) next.grant();
    else taken--;
  }

  /** Resolves to a way to give the slot back, or to undefined when the signal fired first. */
  function take(runId: string, signal: AbortSignal): Promise<(() => void) | undefined> {
    if (signal.aborted) return Promise.resolve(undefined);
    if (taken < max) {
      taken++;
      return Promise.resolve(once(free));
    }
    return new Promise((resolve) => {
      const waiter = {
        runId,
        grant() {
          signal.removeEventListener('abort', giveUp);
          resolve(once(free));
        },
      };
      function giveUp(): void {
        queue.splice(queue.indexOf(waiter), 1);
        resolve(undefined);
      }
      signal.addEventListener('abort', giveUp, { once: true });
      queue.push(waiter);
    });
  }

  return {
    /** A slot to work in; undefined when the signal fired before one was free. */
    async hold(signal: AbortSignal, runId = ''): Promise<HeldSlot | undefined> {
      const taken = await take(runId, signal);
      if (!taken) return undefined;
      const held = { giveBack: taken };
      let waits = 0;
      return {
        release: () => held.giveBack(),
        async without<T>(wait: () => Promise<T>): Promise<T> {
          if (++waits === 1) held.giveBack();
          try {
            return await wait();
          } finally {
            if (--waits === 0) held.giveBack = (await take(runId, signal)) ?? nothing;
          }
        },
      };
    },
    isWaiting: (runId: string): boolean => queue.some((waiter) => waiter.runId === runId),
  };
}
export type Slots = ReturnType<typeof createSlots>;

function once(work: () => void): () => void {
  let done = false;
  return () => {
    if (!done) work();
    done = true;
  };
}
