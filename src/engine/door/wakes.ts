/** After-commit signals: a bit for each session. Listeners read the rows; a lost wake costs a delay, never an event. */
export interface Wakes {
  wake(sessionId: string): void;
  /** The listener is called once for all wakes of a session since the last flush. Returns the unsubscribe function. */
  listen(listener: (sessionId: string) => void): () => void;
  /** Removes all listeners. */
  close(): void;
}

/** Coalesces wakes until `schedule` flushes them; by default, that is at the end of a turn of the event loop. */
export function createWakes(schedule: (flush: () => void) => void = setImmediate): Wakes {
  const listeners = new Set<(sessionId: string) => void>();
  let pending = new Set<string>();

  function flush(): void {
    const sessions = pending;
    pending = new Set();
    for (const sessionId of sessions) for (const listener of listeners) listener(sessionId);
  }

  return {
    wake(sessionId) {
      if (pending.size === 0) schedule(flush);
      pending.add(sessionId);
    },
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close() {
      listeners.clear();
    },
  };
}

/** Resolves with the first defined result of `probe`, called now and after every wake of the session; undefined once the signal fires. */
export function until<T>(wakes: Wakes, sessionId: string, signal: AbortSignal, probe: () => T | undefined): Promise<T | undefined> {
  return new Promise((resolve) => {
    function settle(value: T | undefined): void {
      stop();
      signal.removeEventListener('abort', onAbort);
      resolve(value);
    }
    function onAbort(): void {
      settle(undefined);
    }
    function check(): void {
      const seen = probe();
      if (seen !== undefined) settle(seen);
    }
    const stop = wakes.listen((woken) => {
      if (woken === sessionId) check();
    });
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    else check();
  });
}
