/** A signal that fires with the first of the given signals. `release` removes the listeners: the given signals may live much longer. */
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

/** The result of `work`, or undefined as soon as the signal fires: work that ignores its signal is not waited for. */
export function undefinedIfAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T | undefined> {
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
