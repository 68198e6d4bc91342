/** How many slices a silence is counted in: a machine that was suspended lost one of them, not its whole patience. */
const slices = 8;

export interface Silence {
  /** Something came. */
  touch(): void;
  stop(): void;
}

/** Calls `onSilent` once when nothing came for `idleMs` in which this process could have heard it. */
export function watchSilence(idleMs: number, onSilent: () => void): Silence {
  const sliceMs = idleMs / slices;
  let left = slices;
  let timer = setTimeout(tick, sliceMs);

  function tick(): void {
    if (--left <= 0) return onSilent();
    timer = setTimeout(tick, sliceMs);
  }

  return {
    touch() {
      left = slices;
    },
    stop: () => clearTimeout(timer),
  };
}
