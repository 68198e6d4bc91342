import { limits } from '../../protocol/limits.js';

export interface HeldSlot {
  release(): void;
  /**
   * Releases the slot while `wait` runs, and acquires one again before it resolves. Several waits may overlap. When as many runs wait as may,
   * the slot is kept: what a waiting run holds in memory is bounded, and further runs begin when a person has answered.
   */
  without<T>(wait: () => Promise<T>): Promise<T>;
}

function noSlot(): void {
  // The run was aborted while it waited for a slot: none to release.
}

/** A fair (FIFO) semaphore that bounds the runs that work at the same time, and those that wait outside of it. An abort ends the wait. */
export function createSlots(max: number, waitingMax: number = limits.runsWaitingMax) {
  let taken = 0;
  /** Runs that gave their slot back while they wait for a person or for another attempt. */
  let outside = 0;
  const queue: { runId: string; grant(): void }[] = [];

  function freeSlot(): void {
    const next = queue.shift();
    if (next) next.grant();
    else taken--;
  }

  /** Resolves with the release function of a slot, or with undefined when the signal fired first. */
  function take(runId: string, signal: AbortSignal): Promise<(() => void) | undefined> {
    if (signal.aborted) return Promise.resolve(undefined);
    if (taken < max) {
      taken++;
      return Promise.resolve(runOnce(freeSlot));
    }
    return new Promise((resolve) => {
      const waiter = {
        runId,
        grant() {
          signal.removeEventListener('abort', giveUp);
          resolve(runOnce(freeSlot));
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
    /** Acquires a slot; undefined when the signal fired before one was free. */
    async hold(signal: AbortSignal, runId = ''): Promise<HeldSlot | undefined> {
      const taken = await take(runId, signal);
      if (!taken) return undefined;
      const held = { giveBack: taken };
      let waits = 0;
      let isOutside = false;
      return {
        release: () => held.giveBack(),
        async without<T>(wait: () => Promise<T>): Promise<T> {
          if (++waits === 1 && outside < waitingMax) {
            isOutside = true;
            outside++;
            held.giveBack();
          }
          try {
            return await wait();
          } finally {
            if (--waits === 0 && isOutside) {
              isOutside = false;
              outside--;
              held.giveBack = (await take(runId, signal)) ?? noSlot;
            }
          }
        },
      };
    },
    isWaiting: (runId: string): boolean => queue.some((waiter) => waiter.runId === runId),
  };
}
export type Slots = ReturnType<typeof createSlots>;

function runOnce(work: () => void): () => void {
  let done = false;
  return () => {
    if (!done) work();
    done = true;
  };
}
