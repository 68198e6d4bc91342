import { setTimeout as delay } from 'node:timers/promises';
import { retryResponse } from '../../core/runs.js';
import type { SessionState } from '../../core/session.js';
import type { RunError } from '../../protocol/events.js';
import { limits } from '../../protocol/limits.js';
import type { ModelFailure } from '../../providers/port.js';
import type { RetryingCommit } from '../door/retrying-commit.js';
import type { StepContext } from './step-context.js';

export interface RetrySettings {
  attemptsMax: number;
  minMs: number;
}

interface Deps {
  commit: RetryingCommit;
  settings(): RetrySettings;
  /** From 0 to 1. */
  random(): number;
  /** Wall clock, milliseconds. */
  now(): number;
  /** Sets the status that a client sees while a retry waits; an empty text clears the status. */
  setModelStatus(sessionId: string, text: string): void;
}

/** The result of a model request, after its retries. */
export type Attempted<T> = { answer: T } | { failure: ModelFailure } | 'stopped';

/** Retries failed model requests with exponential backoff: bounded, committed as an event, and ended by an abort at once. */
export function createAttempts({ commit, settings, random, now, setModelStatus }: Deps) {
  function attemptLimit({ retry }: ModelFailure, { attemptsMax }: RetrySettings): number {
    return retry?.once ? Math.min(2, attemptsMax) : attemptsMax;
  }

  function backoffFor(failure: ModelFailure, attempt: number, retries: RetrySettings): number | undefined {
    const { retry } = failure;
    if (!retry || attempt >= attemptLimit(failure, retries) || (retry.afterMs ?? 0) > limits.modelRetryAfterMaxMs) return undefined;
    const backoffMs = Math.min(limits.modelRetryMaxMs, retries.minMs * 2 ** (attempt - 1));
    // Jitter: clients that failed together do not retry together.
    return Math.round(Math.max(backoffMs * (0.5 + random() / 2), (retry.afterMs ?? 0) * (1 + random() / 10)));
  }

  async function pause(waitMs: number, { signal, withoutSlot }: StepContext): Promise<void> {
    await withoutSlot(() =>
      delay(waitMs, undefined, { signal }).catch((error: unknown) => {
        if (!signal.aborted) throw error;
      }),
    );
  }

  return async function attempt<T>(
    { id, run }: SessionState,
    step: StepContext,
    askOnce: () => Promise<Attempted<T>>,
    onDiscarded: () => void = () => undefined,
  ): Promise<Attempted<T>> {
    for (let count = 1; ; count++) {
      const result = await askOnce();
      if (result === 'stopped' || 'answer' in result) return result;
      const { failure } = result;
      const retryInMs = backoffFor(failure, count, settings());
      if (retryInMs === undefined) return { failure: withAttempts(failure, count) };
      const retry = {
        error: toRunError(failure),
        retryInMs,
        attempt: count,
        attemptsMax: attemptLimit(failure, settings()),
        usage: failure.usage ?? null,
      };
      const retried = await commit.decideForRun(id, run?.id ?? '', (state) => retryResponse(state, retry));
      if (!retried.ok) return 'stopped';
      onDiscarded();
      setModelStatus(
        id,
        `${failure.message}; retrying at ${new Date(now() + retryInMs).toISOString()} (attempt ${count} of ${retry.attemptsMax} failed)`,
      );
      await pause(retryInMs, step);
      setModelStatus(id, '');
      if (step.signal.aborted) return 'stopped';
    }
  };
}
export type Attempts = ReturnType<typeof createAttempts>;

function withAttempts({ message, ...failure }: ModelFailure, count: number): ModelFailure {
  const afterMs = failure.retry?.afterMs ?? 0;
  const tooLong = afterMs > limits.modelRetryAfterMaxMs ? `; the provider says to retry after ${Math.round(afterMs / 3_600_000)} h` : '';
  return { ...failure, message: `${message}${count > 1 ? `; gave up after ${count} attempts` : ''}${tooLong}` };
}

/** The error that a run ends with after a failure. */
export function toRunError({ message, cause }: ModelFailure): RunError {
  const clipped = (text: string): string => text.slice(0, limits.errorTextCharsMax).toWellFormed();
  return { code: 'provider_error', message: clipped(message), ...(cause === undefined ? {} : { cause: clipped(cause) }) };
}
