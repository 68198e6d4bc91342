/** After-commit signals: a bit for each session. Listeners read what is true; a lost wake costs a delay, never a fact. */
export interface Wakes {
  wake(sessionId: string): void;
  /** Called once for any number of wakes until what was scheduled runs. Returns how to stop listening. */
  listen(listener: (sessionId: string) => void): () => void;
  /** Nobody is woken any more. */
  close(): void;
}

/** Wakes are gathered until `schedule` runs them: for a turn of the event loop unless told. */
export function createWakes(schedule: (flush: () => void) => void = setImmediate): Wakes {
  const listeners = new Set<(sessionId: string) => void>();
  let awake = new Set<string>();

  function flush(): void {
    const sessions = awake;
    awake = new Set();
    for (const sessionId of sessions) for (const listener of listeners) listener(sessionId);
  }

  return {
    wake(sessionId) {
      if (awake.size === 0) schedule(flush);
      awake.add(sessionId);
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

/** Waits until `look` sees something, looking now and after every wake of the session. Undefined when the signal fires first. */
export function until<T>(wakes: Wakes, sessionId: string, signal: AbortSignal, look: () => T | undefined): Promise<T | undefined> {
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
      const seen = look();
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
