import { setTimeout as delay } from 'node:timers/promises';
import { retryResponse } from '../core/runs.js';
import type { SessionState } from '../core/session.js';
import type { RunError } from '../protocol/events.js';
import { limits } from '../protocol/limits.js';
import type { ModelFailure } from '../providers/port.js';
import type { PatientCommit } from './patience.js';
import type { RunHands } from './tool-calls.js';

export interface RetrySettings {
  attemptsMax: number;
  minMs: number;
}

interface Deps {
  commit: PatientCommit;
  settings(): RetrySettings;
  /** From 0 to 1. */
  random(): number;
}

/** What asking a model once, or often enough, came to. */
export type Attempted<T> = { answer: T } | { failure: ModelFailure } | 'stopped';

/** Asks a model again while its provider has a bad moment: bounded, told to everyone who watches, and stopped by an abort at once. */
export function createAttempts({ commit, settings, random }: Deps) {
  function waitFor({ retry }: ModelFailure, attempt: number, { attemptsMax, minMs }: RetrySettings): number | undefined {
    if (!retry || attempt >= attemptsMax || (retry.afterMs ?? 0) > limits.modelRetryAfterMaxMs) return undefined;
    const backoffMs = Math.min(limits.modelRetryMaxMs, minMs * 2 ** (attempt - 1));
    // Not all who were turned away come back in the same moment.
    return Math.round(Math.max(backoffMs * (0.5 + random() / 2), (retry.afterMs ?? 0) * (1 + random() / 10)));
  }

  async function pause(waitMs: number, { signal, withoutSlot }: RunHands): Promise<void> {
    await withoutSlot(() =>
      delay(waitMs, undefined, { signal }).catch((error: unknown) => {
        if (!signal.aborted) throw error;
      }),
    );
  }

  return async function attempt<T>(
    { id, run }: SessionState,
    hands: RunHands,
    askOnce: () => Promise<Attempted<T>>,
    onDiscarded: () => void = () => undefined,
  ): Promise<Attempted<T>> {
    for (let count = 1; ; count++) {
      const result = await askOnce();
      if (result === 'stopped' || 'answer' in result) return result;
      const { failure } = result;
      const retryInMs = waitFor(failure, count, settings());
      if (retryInMs === undefined) return { failure: count > 1 ? afterAttempts(failure, count) : failure };
      const told = { error: toRunError(failure), retryInMs, attempt: count, attemptsMax: settings().attemptsMax };
      const retried = await commit.decideForRun(id, run?.id ?? '', (now) => retryResponse(now, told));
      if (!retried.ok) return 'stopped';
      onDiscarded();
      await pause(retryInMs, hands);
      if (hands.signal.aborted) return 'stopped';
    }
  };
}
export type Attempts = ReturnType<typeof createAttempts>;

function afterAttempts({ message, ...failure }: ModelFailure, count: number): ModelFailure {
  return { ...failure, message: `${message}; asked ${count} times` };
}

/** A failure as a run ends with it. */
export function toRunError({ message, cause }: ModelFailure): RunError {
  const clipped = (text: string): string => text.slice(0, limits.errorTextCharsMax).toWellFormed();
  return { code: 'provider_error', message: clipped(message), ...(cause === undefined ? {} : { cause: clipped(cause) }) };
}
