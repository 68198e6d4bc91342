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

/** A request that is to be put. */
export interface PersonRequest {
  params: RequestParams;
  /** Milliseconds after which nobody answered; null waits for ever. */
  timeoutMs: number | null;
}

interface Deps {
  store: ReadStore;
  commit: RetryingCommit;
  wakes: Wakes;
  now(): number;
  /** Is somebody attached who could answer this? */
  attended(sessionId: string, method: UiMethod): boolean;
}

/** setTimeout counts in 32 bits. */
const timerMsMax = 2 ** 31 - 1;

/** Puts questions to people and waits for answers, across restarts: the request is a row, waiting is only looking at it. */
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
    if (asked && isLeftAlone(sessionId, methodOf(params))) {
      await commit.decideForRun(sessionId, runId, (state) => closeRequest(state, asked.requestId, 'denied'));
    }
  }

  function giveWayToSteer(sessionId: string): void {
    const state = store.load(sessionId);
    if (state && steerWaits(state)) commit.decide(sessionId, skipForSteer);
  }

  function isLeftAlone(sessionId: string, method: UiMethod): boolean {
    return store.sessions.load(sessionId)?.whenDetached === 'deny' && !attended(sessionId, method);
  }

  /** Resolves a request that nobody answers: when it expires, or when everybody who could has been gone for a while. */
  function watchOver(sessionId: string, requestId: string, expiresAtMs: number | null) {
    let expiry: NodeJS.Timeout | undefined;
    let alone: NodeJS.Timeout | undefined;
    function close(why: 'timeout' | 'denied'): void {
      void commit.decideWithRetry(sessionId, (state) => closeRequest(state, requestId, why));
    }
    function armExpiry(): void {
      if (expiresAtMs === null) return;
      const leftMs = expiresAtMs - now();
      if (leftMs > 0) expiry = setTimeout(armExpiry, Math.min(leftMs, timerMsMax));
      else close('timeout');
    }
    armExpiry();
    return {
      /** Called whenever something about the session changed. */
      look(method: UiMethod): void {
        if (!isLeftAlone(sessionId, method)) {
          clearTimeout(alone);
          alone = undefined;
        } else alone ??= setTimeout(() => close('denied'), limits.detachedGraceMs);
      },
      stop(): void {
        clearTimeout(expiry);
        clearTimeout(alone);
      },
    };
  }

  return {
    /**
     * Undefined when the signal fired first. The outcome is `reconsider`, and the request stays open, when `isStale` sees that the reason to
     * ask has changed; it is called after every wake.
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
      // Not asked: the run was aborted before the question could be put.
      if (!asked) return undefined;
      const watch = watchOver(address.sessionId, asked.requestId, asked.expiresAtMs);
      try {
        return await until(wakes, address.sessionId, signal, () => {
          const resolved = find(address)?.resolved;
          if (resolved) return resolved;
          if (mayGiveWay) giveWayToSteer(address.sessionId);
          watch.look(methodOf(request.params));
          return isStale() ? { outcome: 'reconsider', by: 'policy', result: null } : undefined;
        });
      } finally {
        watch.stop();
      }
    },
  };
}
export type Requests = ReturnType<typeof createRequests>;
