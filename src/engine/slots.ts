/** A bound on runs that work at the same time. First come, first served; waiting can be given up. */
export function createSlots(max: number) {
  let taken = 0;
  const queue: { grant(): void }[] = [];

  function free(): void {
    const next = queue.shift();
    if (next) next.grant();
    else taken--;
  }

  return {
    /** Resolves to a way to give the slot back, or to undefined when the signal fired first. */
    take(signal: AbortSignal): Promise<(() => void) | undefined> {
      if (signal.aborted) return Promise.resolve(undefined);
      if (taken < max) {
        taken++;
        return Promise.resolve(once(free));
      }
      return new Promise((resolve) => {
        const waiter = {
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
    },
    taken: (): number => taken,
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
