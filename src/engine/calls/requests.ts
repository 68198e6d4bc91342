import { askPerson, closeRequest } from '../../core/requests.js';
import { skipForSteer } from '../../core/runs.js';
import { steerWaits } from '../../core/turns.js';
import { limits } from '../../protocol/limits.js';
import type { UiAnswer } from '../../protocol/requests/request-answers.js';
import { methodOf, type RequestParams, type UiMethod } from '../../protocol/requests/requests.js';
import type { ReadStore } from '../../store/store.js';
import type { RetryingCommit } from '../door/retrying-commit.js';
import { until, type Wakes } from '../door/wakes.js';

export interface RequestAddress {
  sessionId: string;
  runId: string;
  turnId: string;
  toolCallId: string;
  askKey: string;
}

export interface Answered {
  outcome: string;
  by: string;
  result: UiAnswer;
}

/** A request to a person, before it is committed. */
export interface PersonRequest {
  params: RequestParams;
  /** Timeout in milliseconds; null waits for ever. */
  timeoutMs: number | null;
}

interface Deps {
  store: ReadStore;
  commit: RetryingCommit;
  wakes: Wakes;
  now(): number;
  /** Whether a client is attached that can answer a request of this method. */
  attended(sessionId: string, method: UiMethod): boolean;
}

/** Requests to people, answered across restarts: a request is a row, and waiting for an answer is reading that row after each wake. */
export function createRequests({ store, commit, wakes, now, attended }: Deps) {
  function find({ runId, turnId, toolCallId, askKey }: RequestAddress) {
    return store.requests.find(runId, turnId, toolCallId, askKey);
  }

  async function put(address: RequestAddress, { params, timeoutMs }: PersonRequest): Promise<void> {
    const { sessionId, runId, toolCallId, askKey } = address;
    const expiresAtMs = timeoutMs === null ? null : now() + timeoutMs;
    await commit.decideForRun(sessionId, runId, (state, fresh) =>
      askPerson(state, { id: fresh.id('req'), toolCallId, askKey, params, expiresAtMs }),
    );
    const asked = find(address);
    if (asked && isUnattended(sessionId, methodOf(params))) {
      await commit.decideForRun(sessionId, runId, (state) => closeRequest(state, asked.requestId, 'denied'));
    }
  }

  function giveWayToSteer(sessionId: string): void {
    const state = store.load(sessionId);
    if (state && steerWaits(state)) commit.decide(sessionId, skipForSteer);
  }

  function isUnattended(sessionId: string, method: UiMethod): boolean {
    return store.sessions.load(sessionId)?.whenDetached === 'deny' && !attended(sessionId, method);
  }

  /** Resolves an unanswered request: when it expires, or when no client that can answer was attached for `detachedGraceMs`. */
  function watchTimeouts(sessionId: string, requestId: string, expiresAtMs: number | null) {
    let expiry: NodeJS.Timeout | undefined;
    let unattendedTimer: NodeJS.Timeout | undefined;
    function close(why: 'timeout' | 'denied'): void {
      void commit.decideWithRetry(sessionId, (state) => closeRequest(state, requestId, why));
    }
    function armExpiry(): void {
      if (expiresAtMs === null) return;
      const leftMs = expiresAtMs - now();
      if (leftMs > 0) expiry = setTimeout(armExpiry, Math.min(leftMs, limits.timerMaxMs));
      else close('timeout');
    }
    armExpiry();
    return {
      /** Starts or stops the timer of an unattended session. To be called after every wake. */
      checkAttendance(method: UiMethod): void {
        if (!isUnattended(sessionId, method)) {
          clearTimeout(unattendedTimer);
          unattendedTimer = undefined;
        } else unattendedTimer ??= setTimeout(() => close('denied'), limits.detachedGraceMs);
      },
      stop(): void {
        clearTimeout(expiry);
        clearTimeout(unattendedTimer);
      },
    };
  }

  return {
    /**
     * Undefined when the signal fired first. The outcome is `reconsider`, and the request stays open, when `isStale`, which is called after
     * every wake, says that the reason to ask has changed.
     */
    async ask(
      address: RequestAddress,
      request: PersonRequest,
      signal: AbortSignal,
      mayGiveWay: boolean,
      isStale: () => boolean = () => false,
    ): Promise<Answered | undefined> {
      if (signal.aborted) return undefined;
      if (!find(address)) await put(address, request);
      const asked = find(address);
      // No row: the run was aborted before the request was committed.
      if (!asked) return undefined;
      const watch = watchTimeouts(address.sessionId, asked.requestId, asked.expiresAtMs);
      try {
        return await until(wakes, address.sessionId, signal, () => {
          const resolved = find(address)?.resolved;
          if (resolved) return resolved;
          if (mayGiveWay) giveWayToSteer(address.sessionId);
          watch.checkAttendance(methodOf(request.params));
          return isStale() ? { outcome: 'reconsider', by: 'policy', result: null } : undefined;
        });
      } finally {
        watch.stop();
      }
    },
  };
}
export type Requests = ReturnType<typeof createRequests>;
