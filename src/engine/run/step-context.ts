import type { RunHistory } from './run-history.js';

/** What a step of a run works with. */
export interface StepContext {
  signal: AbortSignal;
  history: RunHistory;
  /** Releases the run's slot while `work` waits: a person may take days to answer. */
  withoutSlot<T>(work: () => Promise<T>): Promise<T>;
}
