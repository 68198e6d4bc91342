/** How many slices a silence is counted in: a machine that was suspended lost one of them, not its whole patience. */
const slices = 8;

export interface IdleTimeout {
  /** Something came. */
  touch(): void;
  /** Whether anybody listens: while nobody does, silence is not counted. */
  listen(listens: boolean): void;
  stop(): void;
}

/** Calls `onSilent` once when nothing came for `idleMs` in which this process could have heard it. Nobody listens at first. */
export function createIdleTimeout(idleMs: number, onSilent: () => void): IdleTimeout {
  const sliceMs = idleMs / slices;
  let left = slices;
  let listening = false;
  let timer = setTimeout(tick, sliceMs);

  function tick(): void {
    left = listening ? left - 1 : slices;
    if (left <= 0) return onSilent();
    timer = setTimeout(tick, sliceMs);
  }

  return {
    touch() {
      left = slices;
    },
    listen(listens) {
      listening = listens;
    },
    stop: () => clearTimeout(timer),
  };
}
