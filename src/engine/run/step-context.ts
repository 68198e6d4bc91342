import type { RunHistory } from './run-history.js';

/** What a step of a run works with. */
export interface StepContext {
  signal: AbortSignal;
  history: RunHistory;
  /** Runs `work` without holding one of the slots for running sessions: a person may take days. */
  withoutSlot<T>(work: () => Promise<T>): Promise<T>;
}
