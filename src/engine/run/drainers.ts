import type { ReadStore } from '../../store/store.js';

interface Deps {
  store: ReadStore;
  drive(sessionId: string, runId: string, signal: AbortSignal): Promise<void>;
  /** Something that no handling was written for. Does not return. */
  onBug(error: unknown): never;
}

interface Task {
  runId: string;
  stop: AbortController;
  done: Promise<void>;
}

/** One drainer a session with a run; none for a session at rest. A wake makes it look at the rows. */
export function createDrainers({ store, drive, onBug }: Deps) {
  const tasks = new Map<string, Task>();
  let stopping = false;

  function look(sessionId: string): void {
    const task = tasks.get(sessionId);
    const run = store.runs.activeHead(sessionId);
    if (task) {
      if (!run || run.aborting || run.id !== task.runId) task.stop.abort();
      return;
    }
    if (run && !stopping) start(sessionId, run.id);
  }

  function start(sessionId: string, runId: string): void {
    const stop = new AbortController();
    const done = drive(sessionId, runId, stop.signal).then(
      () => {
        tasks.delete(sessionId);
        // A run may have begun in the commit that ended this one.
        if (!stopping) look(sessionId);
      },
      (error: unknown) => onBug(error),
    );
    tasks.set(sessionId, { runId, stop, done });
  }

  return {
    wake: look,
    isStopping: (): boolean => stopping,
    running: (): number => tasks.size,
    /** Interrupts everything that runs and waits until the last of it is settled. */
    async stop(): Promise<void> {
      stopping = true;
      for (const { stop } of tasks.values()) stop.abort();
      await Promise.all([...tasks.values()].map(({ done }) => done));
    },
  };
}
export type Drainers = ReturnType<typeof createDrainers>;
