import type { ReadStore } from '../../store/store.js';

interface Deps {
  store: ReadStore;
  drive(sessionId: string, runId: string, signal: AbortSignal): Promise<void>;
  /** An unexpected exception. Does not return. */
  onBug(error: unknown): never;
}

interface Task {
  runId: string;
  stop: AbortController;
  done: Promise<void>;
}

/** One task for each session with an active run; none for an idle session. A wake compares the task with the rows. */
export function createDrainers({ store, drive, onBug }: Deps) {
  const tasks = new Map<string, Task>();
  let stopping = false;

  function reconcile(sessionId: string): void {
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
        // The commit that ended this run may have begun the next.
        if (!stopping) reconcile(sessionId);
      },
      (error: unknown) => onBug(error),
    );
    tasks.set(sessionId, { runId, stop, done });
  }

  return {
    wake: reconcile,
    isStopping: (): boolean => stopping,
    running: (): number => tasks.size,
    /** Interrupts all runs and waits until each of them is settled. */
    async stop(): Promise<void> {
      stopping = true;
      for (const { stop } of tasks.values()) stop.abort();
      await Promise.all([...tasks.values()].map(({ done }) => done));
    },
  };
}
export type Drainers = ReturnType<typeof createDrainers>;
