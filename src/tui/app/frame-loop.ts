/** Paints at most so often; a slow terminal gets fewer frames, in proportion to the time that its writes take. */
const tuning = { frameMs: 16, keyFrameMs: 4, writeShare: 3, frameMsMax: 500 } as const;

export interface FrameLoop {
  /** Something changed: a frame is painted soon. */
  invalidate(): void;
  /** Somebody pressed a key, and waits: its frame does not wait for its turn behind those of a stream. */
  hurry(): void;
  /** Paints now, if something changed. */
  flush(): void;
  close(): void;
}

/** Paints when something has changed, and never otherwise. */
export function createFrameLoop(paint: () => void): FrameLoop {
  let timer: NodeJS.Timeout | undefined;
  let lastEnd = -Infinity;
  let pauseMs: number = tuning.frameMs;

  function run(): void {
    clearTimeout(timer);
    timer = undefined;
    const start = performance.now();
    paint();
    lastEnd = performance.now();
    pauseMs = Math.min(tuning.frameMsMax, Math.max(tuning.frameMs, tuning.writeShare * (lastEnd - start)));
  }

  function runAfter(ms: number): void {
    timer = setTimeout(run, Math.max(0, lastEnd + ms - performance.now()));
  }

  return {
    invalidate() {
      if (!timer) runAfter(pauseMs);
    },
    hurry() {
      clearTimeout(timer);
      runAfter(Math.max(tuning.keyFrameMs, pauseMs / tuning.writeShare));
    },
    flush() {
      if (timer) run();
    },
    close() {
      clearTimeout(timer);
    },
  };
}
