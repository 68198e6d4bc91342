/** A signal that fires with the first of the given ones. `release` stops listening to them: they may live much longer. */
export function firstSignal(...signals: readonly AbortSignal[]): { signal: AbortSignal; release(): void } {
  const first = new AbortController();
  const fire = (): void => first.abort();
  for (const signal of signals) signal.addEventListener('abort', fire, { once: true });
  if (signals.some(({ aborted }) => aborted)) fire();
  return {
    signal: first.signal,
    release() {
      for (const signal of signals) signal.removeEventListener('abort', fire);
    },
  };
}

/** What `work` comes to, or undefined as soon as the signal fires: whoever does not listen is not waited for. */
export function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    function onAbort(): void {
      resolve(undefined);
    }
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    work.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', onAbort);
    });
  });
}
