/** The timeout is counted in slices: a suspended machine loses one slice, not the whole timeout. */
const slices = 8;

export interface IdleTimeout {
  /** Resets the timeout: data arrived. */
  touch(): void;
  /** Pauses or resumes the timeout: idle time counts only while the stream is being read. */
  listen(listens: boolean): void;
  stop(): void;
}

/** Calls `onSilent` once after `idleMs` without data, counted only while this process runs and reads. Paused at first. */
export function createIdleTimeout(idleMs: number, onSilent: () => void): IdleTimeout {
  const sliceMs = idleMs / slices;
  let slicesLeft = slices;
  let listening = false;
  let timer = setTimeout(tick, sliceMs);

  function tick(): void {
    slicesLeft = listening ? slicesLeft - 1 : slices;
    if (slicesLeft <= 0) return onSilent();
    timer = setTimeout(tick, sliceMs);
  }

  return {
    touch() {
      slicesLeft = slices;
    },
    listen(listens) {
      listening = listens;
    },
    stop: () => clearTimeout(timer),
  };
}
