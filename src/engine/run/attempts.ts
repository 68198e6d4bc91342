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
  /** Says what is waited for to whoever comes meanwhile; an empty text takes it back. */
  tellWaiting(sessionId: string, text: string): void;
}

/** What asking a model once, or often enough, came to. */
export type Attempted<T> = { answer: T } | { failure: ModelFailure } | 'stopped';

/** Asks a model again while its provider has a bad moment: bounded, told to everyone who watches, and stopped by an abort at once. */
export function createAttempts({ commit, settings, random, now, tellWaiting }: Deps) {
  function mostAttempts({ retry }: ModelFailure, { attemptsMax }: RetrySettings): number {
    return retry?.once ? Math.min(2, attemptsMax) : attemptsMax;
  }

  function waitFor(failure: ModelFailure, attempt: number, retries: RetrySettings): number | undefined {
    const { retry } = failure;
    if (!retry || attempt >= mostAttempts(failure, retries) || (retry.afterMs ?? 0) > limits.modelRetryAfterMaxMs) return undefined;
    const backoffMs = Math.min(limits.modelRetryMaxMs, retries.minMs * 2 ** (attempt - 1));
    // Not all who were turned away come back in the same moment.
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
      const retryInMs = waitFor(failure, count, settings());
      if (retryInMs === undefined) return { failure: afterAttempts(failure, count) };
      const told = {
        error: toRunError(failure),
        retryInMs,
        attempt: count,
        attemptsMax: mostAttempts(failure, settings()),
        usage: failure.usage ?? null,
      };
      const retried = await commit.decideForRun(id, run?.id ?? '', (state) => retryResponse(state, told));
      if (!retried.ok) return 'stopped';
      onDiscarded();
      tellWaiting(
        id,
        `${failure.message}; asked again at ${new Date(now() + retryInMs).toISOString()} (${count} of ${told.attemptsMax} failed)`,
      );
      await pause(retryInMs, step);
      tellWaiting(id, '');
      if (step.signal.aborted) return 'stopped';
    }
  };
}
export type Attempts = ReturnType<typeof createAttempts>;

function afterAttempts({ message, ...failure }: ModelFailure, count: number): ModelFailure {
  const afterMs = failure.retry?.afterMs ?? 0;
  const tooLong = afterMs > limits.modelRetryAfterMaxMs ? `; it requests to be left alone for ${Math.round(afterMs / 3_600_000)} h` : '';
  return { ...failure, message: `${message}${count > 1 ? `; asked ${count} times` : ''}${tooLong}` };
}

/** A failure as a run ends with it. */
export function toRunError({ message, cause }: ModelFailure): RunError {
  const clipped = (text: string): string => text.slice(0, limits.errorTextCharsMax).toWellFormed();
  return { code: 'provider_error', message: clipped(message), ...(cause === undefined ? {} : { cause: clipped(cause) }) };
}
